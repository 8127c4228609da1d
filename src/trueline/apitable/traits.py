"""What a function, a method or a layer can do to a value: the words of ``does`` in ``functions.toml``."""

from __future__ import annotations

from enum import StrEnum


class Trait(StrEnum):
    """A property that analyses and items ask for, by theme as in the table."""

    # moved cast wrapped
    SAME = "same"  # the same numbers in the same shape: moved, cast, wrapped, copied, detached
    CASTS = "casts"
    CASTS_TO = "casts_to"  # to the type that it is given
    COPIES = "copies"
    PASSES_THROUGH = "passes_through"  # gives back what it is given
    TO_FLOAT16 = "to_float16"
    TO_BFLOAT16 = "to_bfloat16"
    TO_FLOAT32 = "to_float32"  # float32 and float64
    TO_INTEGER = "to_integer"
    TO_TRUTH = "to_truth"
    WRAPS = "wraps"
    CUTS_GRADIENT = "cuts_gradient"
    STOPS_GRADIENT = "stops_gradient"  # is there to cut it
    OWN_VALUE = "own_value"  # of a parameter
    SAME_ATTRIBUTE = "same_attribute"  # an attribute with the same numbers

    # shape
    VIEW = "view"  # the same numbers in another shape
    RESHAPES = "reshapes"  # to sizes that it is given
    ADDS_AXIS = "adds_axis"  # of length 1
    SWAPS_AXES = "swaps_axes"
    EXPANDS = "expands"  # without new numbers
    REPEATS = "repeats"  # copies
    JOINS = "joins"  # along an axis
    JOINS_SIDES = "joins_sides"  # whose axis depends on the rank
    SPLITS = "splits"
    PICKS = "picks"  # some of the numbers
    GATHERS = "gathers"
    REARRANGES = "rearranges"  # the same numbers in another order
    SORTS = "sorts"
    SELECTS = "selects"  # one of two, number by number
    MASKS = "masks"
    NON_NEGATIVE = "non_negative"
    ZERO_OFTEN = "zero_often"  # exactly zero for many inputs
    PADS = "pads"
    PADS_SEQUENCES = "pads_sequences"
    PACKS_SEQUENCES = "packs_sequences"

    # asked
    SIZE = "size"  # how many elements
    RANK = "rank"  # how many axes
    FORM = "form"  # attributes: shape, type, device

    # arithmetic
    ADDS = "adds"
    SUBTRACTS = "subtracts"
    MULTIPLIES = "multiplies"
    DIVIDES = "divides"
    ELEMENTWISE = "elementwise"
    POWER = "power"
    MATMUL = "matmul"
    MATMUL_ADDED = "matmul_added"
    EINSUM = "einsum"
    MIXES = "mixes"
    EQUALS = "equals"
    NEGATES = "negates"

    # elementwise
    LOG = "log"
    UPPER_END = "upper_end"  # does not grow without end
    SQUASHES = "squashes"  # brings large numbers down
    EXPONENT = "exponent"
    SELDOM_ZERO = "seldom_zero"  # taken not to come near zero
    ROOT = "root"
    RECIPROCAL = "reciprocal"
    ROUNDS = "rounds"
    CLAMPS = "clamps"
    LOWER_END = "lower_end"  # has a floor that it is given
    HANDLES_MISSING = "handles_missing"  # NaN and infinities: asked for, filled in, left out
    KEEPS_MEANING = "keeps_meaning"  # probabilities stay probabilities

    # activations
    ACTIVATION = "activation"  # bends between two linear layers
    HAS_WEIGHTS = "has_weights"  # to learn
    SIGMOID = "sigmoid"
    LOG_SIGMOID = "log_sigmoid"
    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"
    STANDARDISES = "standardises"  # to mean 0 and deviation 1, or the like
    NORMALISES_VECTORS = "normalises_vectors"  # to length 1

    # reductions
    REDUCTION = "reduction"  # over the axis that it is given
    MEAN = "mean"
    BETWEEN = "between"  # lies between the numbers that it is given
    MEDIAN = "median"
    SUM = "sum"
    DEVIATION = "deviation"  # a spread around the mean
    VECTOR_NORM = "vector_norm"
    LARGEST = "largest"
    SMALLEST = "smallest"
    PLACES = "places"  # the place of the largest or smallest
    CHOOSES = "chooses"  # values with their places, or places
    CUMULATES = "cumulates"  # running sums
    ACCURACY = "accuracy"

    # missing
    NOT_FINITE = "not_finite"  # a constant that is NaN or infinite

    # linear
    LINEAR = "linear"
    BILINEAR = "bilinear"
    CONV = "conv"
    EMBEDDING = "embedding"
    RECURRENT = "recurrent"
    ATTENTION = "attention"
    UNCALLED = "uncalled"  # used, but never called as a module
    TRANSFORMER = "transformer"  # several layers in one
    DROPS_UNASKED = "drops_unasked"  # has dropout unless it is told 0
    DECODER = "decoder"  # attends to a second input

    # regularising
    NORM = "norm"
    BATCH_NORM = "batch_norm"
    KEEPS_STATISTICS = "keeps_statistics"  # of the batches it has seen
    LAYER_NORM = "layer_norm"
    DROPOUT = "dropout"
    RANDOM = "random"  # drawn by chance
    POOL = "pool"
    MEAN_POOL = "mean_pool"  # linear, other than the largest

    # networks
    HOLDS_LAYERS = "holds_layers"  # a container
    PARAMETER = "parameter"
    WRAPS_NETWORK = "wraps_network"  # around a network that it trains
    LISTS_PARAMETERS = "lists_parameters"
    LISTS_UNTRAINED = "lists_untrained"  # only those that are frozen
    LISTS_LAYERS = "lists_layers"
    SETS_MODE = "sets_mode"
    FREEZES = "freezes"
    RESETS = "resets"  # draws the weights anew
    SETS_PRECISION = "sets_precision"  # of what a cell computes with
    ACTS = "acts"  # has an effect, also where nothing takes its result

    # gradients
    NO_GRADIENT = "no_gradient"
    SWITCHES_GRADIENT = "switches_gradient"  # on or off
    CLEARS_GRADIENTS = "clears_gradients"
    SCALES_LOSS = "scales_loss"  # or its gradients
    LOSS_SCALER = "loss_scaler"

    # written
    WRITES = "writes"  # another tensor's numbers into a weight
    ASSIGNS = "assigns"  # by an operator
    ASSIGNS_SUM = "assigns_sum"
    FILLS_IN_PLACE = "fills_in_place"
    DRAWS_IN_PLACE = "draws_in_place"
    FILLS = "fills"  # an array of one number, by shape
    FILLS_ZERO = "fills_zero"
    BY_SIZES = "by_sizes"  # the shape as separate arguments
    FILLS_LIKE = "fills_like"  # of one number, by another array
    FILLS_ONE = "fills_one"
    FILLS_VALUE = "fills_value"  # with a number that it is given
    BY_SHAPE = "by_shape"  # the shape as its first argument
    FILLS_WITH = "fills_with"  # an array that is there
    UNFILLED = "unfilled"  # whatever the memory holds
    LIKE = "like"  # in the form of another array
    NEW_OF_TYPE = "new_of_type"  # in the type of another array
    COUNTS_UP = "counts_up"  # whole numbers from a start
    FLAT = "flat"  # always of rank 1
    EVENLY = "evenly"  # numbers at equal distances

    # chance
    DRAWS_NORMAL = "draws_normal"
    SIZED_BEHIND = "sized_behind"  # the shape behind two other arguments
    DRAWS_UNIFORM = "draws_uniform"
    DRAWS_WHOLE = "draws_whole"
    DRAWS_CHOICE = "draws_choice"
    PERMUTES = "permutes"
    SHUFFLES = "shuffles"
    SEEDS = "seeds"
    GENERATES = "generates"  # a source of random numbers

    # losses
    LOSS = "loss"
    TAKES_LOGITS = "takes_logits"
    CLASS_LOSS = "class_loss"  # one class of several as its target
    CLASSIFIES = "classifies"  # classes of any kind as targets
    CLASS_WEIGHTS = "class_weights"  # takes weights of classes
    TAKES_LOGARITHMS = "takes_logarithms"  # of probabilities
    TAKES_PROBABILITIES = "takes_probabilities"
    BINARY_LOSS = "binary_loss"
    BY_DIFFERENCE = "by_difference"  # of two numbers: shapes are broadcast

    # optimizers
    OPTIMIZER = "optimizer"
    STEP_IS_RATE = "step_is_rate"  # its step is about the rate for every weight
    NORMALISED_STEP = "normalised_step"  # divides gradients by their own size
    PLAIN_STEP = "plain_step"  # as long as the gradient

    # schedules
    SETS_RATE = "sets_rate"  # by a function, whatever the optimizer's own

    # data
    LOADER = "loader"
    OVER_DATASET = "over_dataset"  # gives the samples of its first argument
    HOLDS_SAMPLES = "holds_samples"  # is made of samples
    SAMPLER_SHUFFLES = "sampler_shuffles"
    SAMPLER_WHOLE = "sampler_whole"  # draws from all samples
    SAMPLER_EVEN = "sampler_even"  # samples as they are distributed
    BALANCES = "balances"  # classes that are not as frequent
    SAMPLER_SEQUENTIAL = "sampler_sequential"
    PIPELINE_KEEPS_SAMPLES = "pipeline_keeps_samples"  # as many as before
    PIPELINE_KEEPS_COLUMNS = "pipeline_keeps_columns"  # the same fields
    TAKES_PART = "takes_part"  # of the samples
    LISTS = "lists"  # the elements as they are
    ITERATES = "iterates"  # one element after the other

    # transforms
    SCALES_PIXELS = "scales_pixels"  # 0..255 to 0..1
    SCALER = "scaler"  # an object that is fitted
    RESIZES = "resizes"
    RANDOM_TRANSFORM = "random_transform"
    READS_PICTURE = "reads_picture"
    READS_BYTES = "reads_bytes"  # without a type of their own

    # files
    READS_WEIGHTS = "reads_weights"  # from a file
    LOADS_WEIGHTS = "loads_weights"  # into a network
    GIVES_WEIGHTS = "gives_weights"  # of a network, by name
    SAVES_ARRAYS = "saves_arrays"
    SAVES_WEIGHTS = "saves_weights"
    LISTS_FILES = "lists_files"
    AS_PATH = "as_path"

    # ranks
    BEGINS_GROUP = "begins_group"  # of processes
    WRAPS_RANKS = "wraps_ranks"  # exchanges gradients by itself
    COLLECTIVE = "collective"
    SHARES_WEIGHTS = "shares_weights"  # all ranks have the same afterwards
    MEETS = "meets"  # waits for all ranks
    HANDS_ON = "hands_on"  # what passes through a model whose parts are on several ranks
    OWN_RANK = "own_rank"
    WORLD_SIZE = "world_size"
    OWN_WORKER = "own_worker"

    # python
    COLLECTS = "collects"  # puts an element into a list or set
    LOOKS_UP = "looks_up"
    HOLDS = "holds"  # a dict or set of its elements
    TEXT = "text"
    FORMATS = "formats"
    SAYS = "says"
    RECORDS = "records"  # writes down
    ASIDE = "aside"  # no part of a training
    ASKS = "asks"  # about an object's class
