/* Segments handed out to threads; each writes its own partial result, so who runs what changes nothing. */
#include "trueline.h"

#include <pthread.h>

#define MOST_THREADS 64

typedef struct {
    tl_task task;
    void *context;
    size_t segments, next;
} pool;

static void *work(void *shared)
{
    pool *jobs = shared;
    for (;;) {
        size_t segment = __atomic_fetch_add(&jobs->next, 1, __ATOMIC_RELAXED);
        if (segment >= jobs->segments)
            return NULL;
        jobs->task(jobs->context, segment);
    }
}

void tl_share_out(tl_task task, void *context, size_t segments, int threads)
{
    pool jobs = {task, context, segments, 0};
    pthread_t others[MOST_THREADS];
    int started = 0;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    if ((size_t)threads > segments)
        threads = (int)segments;
    while (started < threads - 1 && pthread_create(&others[started], NULL, work, &jobs) == 0)
        started++;
    work(&jobs);
    while (started > 0)
        pthread_join(others[--started], NULL);
}
