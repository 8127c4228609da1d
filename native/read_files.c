/* Many small files, opened, read and closed in one go: between two system calls there is next to nothing. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "trueline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_PATH 4096
/* A line of the cache between files: those whose size is a power of two would else all want the same places in it. */
#define APART 64

typedef struct {
    unsigned char *room;
    uint64_t most;
    int64_t *start;
    int interrupted;
} reader;

/* What was read of an open file; `most` where that did not reach its end, -errno where it went wrong. */
static int64_t read_whole(int file, reader *by)
{
    uint64_t held = 0;
    while (held < by->most) {
        /* Only nothing read is the end: a file system over the network may give less than it was asked for. */
        ssize_t more = read(file, by->room + held, by->most - held);
        if (more == 0)
            break;
        if (more > 0)
            held += (uint64_t)more;
        else if (errno != EINTR)
            return -(int64_t)errno;
        else
            by->interrupted = 1;
    }
    return (int64_t)held;
}

static int64_t read_path(const char *path, reader *by)
{
    int file;
    /* What has become a pipe by now must not keep its reader waiting. */
    while ((file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
        if (errno != EINTR)
            return -(int64_t)errno;
        by->interrupted = 1;
    }
    int64_t size = read_whole(file, by);
    struct stat status;
    if (size == (int64_t)by->most)
        *by->start = fstat(file, &status) == 0 ? (int64_t)status.st_size : 0;
    if (close(file) < 0 && errno != EINTR && size >= 0)
        return -(int64_t)errno;
    return size;
}

uint64_t tl_read_files(const char *base, const char *names, uint64_t count, unsigned char *room, uint64_t room_size,
                       uint64_t most, const int32_t *stop, int64_t *starts, int64_t *sizes)
{
    char path[LONGEST_PATH];
    size_t base_size = strlen(base);
    uint64_t begin = 0;
    reader by = {0};
    if (base_size < LONGEST_PATH)
        memcpy(path, base, base_size);
    for (uint64_t i = 0; i < count; i++) {
        size_t size = strlen(names) + 1, head = names[0] == '/' ? 0 : base_size;
        uint64_t left = room_size - begin;
        /* A signal may ask Python to end. */
        if (__atomic_load_n(stop, __ATOMIC_RELAXED) || by.interrupted || !left)
            return i;
        by.room = room + begin;
        by.most = left < most ? left : most;
        by.start = &starts[i];
        if (head + size > LONGEST_PATH)
            sizes[i] = -(int64_t)ENAMETOOLONG;
        else if (head) {
            memcpy(path + head, names, size);
            sizes[i] = read_path(path, &by);
        } else
            sizes[i] = read_path(names, &by);
        if (sizes[i] == (int64_t)by.most) {
            if (by.most < most)
                return i;
            sizes[i] = TL_TOO_LARGE;
        } else if (sizes[i] >= 0) {
            starts[i] = (int64_t)begin;
            begin += ((uint64_t)sizes[i] + 2 * APART - 1) / APART * APART;
            if (begin > room_size)
                begin = room_size;
        }
        names += size;
    }
    return count;
}
