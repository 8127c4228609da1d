"""What a function, a method or a layer can do to a value: the words of ``does`` in ``functions.toml``."""

from __future__ import annotations

from enum import StrEnum


class Trait(StrEnum):
    """A property that analyses and items ask for, by theme as in the table."""

    # moved cast wrapped
    SAME = "same"
    MOVES = "moves"
    CASTS = "casts"
    CASTS_TO = "casts_to"
    COPIES = "copies"
    PASSES_THROUGH = "passes_through"
    TO_FLOAT16 = "to_float16"
    TO_BFLOAT16 = "to_bfloat16"
    TO_FLOAT32 = "to_float32"
    TO_INTEGER = "to_integer"
    TO_TRUTH = "to_truth"
    WRAPS = "wraps"
    CUTS_GRADIENT = "cuts_gradient"
    STOPS_GRADIENT = "stops_gradient"
    OWN_VALUE = "own_value"
    SAME_ATTRIBUTE = "same_attribute"

    # shape
    VIEW = "view"
    RESHAPES = "reshapes"
    ADDS_AXIS = "adds_axis"
    SWAPS_AXES = "swaps_axes"
    EXPANDS = "expands"
    REPEATS = "repeats"
    JOINS = "joins"
    JOINS_SIDES = "joins_sides"
    SPLITS = "splits"
    PICKS = "picks"
    GATHERS = "gathers"
    REARRANGES = "rearranges"
    SORTS = "sorts"
    SELECTS = "selects"
    MASKS = "masks"
    NON_NEGATIVE = "non_negative"
    ZERO_OFTEN = "zero_often"
    PADS = "pads"
    PADS_SEQUENCES = "pads_sequences"
    PACKS_SEQUENCES = "packs_sequences"

    # asked
    SIZE = "size"
    RANK = "rank"
    FORM = "form"

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
    UPPER_END = "upper_end"
    SQUASHES = "squashes"
    EXPONENT = "exponent"
    SELDOM_ZERO = "seldom_zero"
    MAY_OVERFLOW = "may_overflow"
    ROOT = "root"
    RECIPROCAL = "reciprocal"
    ROUNDS = "rounds"
    CLAMPS = "clamps"
    LOWER_END = "lower_end"
    HANDLES_MISSING = "handles_missing"
    KEEPS_MEANING = "keeps_meaning"

    # activations
    ACTIVATION = "activation"
    HAS_WEIGHTS = "has_weights"
    SIGMOID = "sigmoid"
    LOG_SIGMOID = "log_sigmoid"
    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"
    STANDARDISES = "standardises"
    NORMALISES_VECTORS = "normalises_vectors"

    # reductions
    REDUCTION = "reduction"
    MEAN = "mean"
    BETWEEN = "between"
    MEDIAN = "median"
    SUM = "sum"
    DEVIATION = "deviation"
    VECTOR_NORM = "vector_norm"
    LARGEST = "largest"
    SMALLEST = "smallest"
    PLACES = "places"
    CHOOSES = "chooses"
    CUMULATES = "cumulates"
    COUNTS = "counts"
    ACCURACY = "accuracy"

    # missing
    NOT_FINITE = "not_finite"

    # linear
    LINEAR = "linear"
    BILINEAR = "bilinear"
    CONV = "conv"
    EMBEDDING = "embedding"
    RECURRENT = "recurrent"
    ATTENTION = "attention"
    UNCALLED = "uncalled"
    TRANSFORMER = "transformer"
    DROPS_UNASKED = "drops_unasked"
    DECODER = "decoder"

    # regularising
    NORM = "norm"
    BATCH_NORM = "batch_norm"
    KEEPS_STATISTICS = "keeps_statistics"
    LAYER_NORM = "layer_norm"
    DROPOUT = "dropout"
    RANDOM = "random"
    POOL = "pool"
    MEAN_POOL = "mean_pool"

    # networks
    HOLDS_LAYERS = "holds_layers"
    PARAMETER = "parameter"
    WRAPS_NETWORK = "wraps_network"
    LISTS_PARAMETERS = "lists_parameters"
    LISTS_UNTRAINED = "lists_untrained"
    LISTS_LAYERS = "lists_layers"
    SETS_MODE = "sets_mode"
    FREEZES = "freezes"
    RESETS = "resets"
    SETS_PRECISION = "sets_precision"
    ACTS = "acts"

    # gradients
    NO_GRADIENT = "no_gradient"
    SWITCHES_GRADIENT = "switches_gradient"
    CLEARS_GRADIENTS = "clears_gradients"
    SCALES_LOSS = "scales_loss"
    LOSS_SCALER = "loss_scaler"

    # written
    WRITES = "writes"
    ASSIGNS = "assigns"
    ASSIGNS_SUM = "assigns_sum"
    FILLS_IN_PLACE = "fills_in_place"
    DRAWS_IN_PLACE = "draws_in_place"
    FILLS = "fills"
    FILLS_ZERO = "fills_zero"
    BY_SIZES = "by_sizes"
    FILLS_LIKE = "fills_like"
    FILLS_ONE = "fills_one"
    FILLS_VALUE = "fills_value"
    BY_SHAPE = "by_shape"
    FILLS_WITH = "fills_with"
    UNFILLED = "unfilled"
    LIKE = "like"
    NEW_OF_TYPE = "new_of_type"
    COUNTS_UP = "counts_up"
    FLAT = "flat"
    EVENLY = "evenly"

    # chance
    DRAWS_NORMAL = "draws_normal"
    SIZED_BEHIND = "sized_behind"
    DRAWS_UNIFORM = "draws_uniform"
    DRAWS_WHOLE = "draws_whole"
    DRAWS_CHOICE = "draws_choice"
    PERMUTES = "permutes"
    SHUFFLES = "shuffles"
    SEEDS = "seeds"
    GENERATES = "generates"

    # losses
    LOSS = "loss"
    TAKES_LOGITS = "takes_logits"
    CLASS_LOSS = "class_loss"
    CLASSIFIES = "classifies"
    CLASS_WEIGHTS = "class_weights"
    TAKES_LOGARITHMS = "takes_logarithms"
    TAKES_PROBABILITIES = "takes_probabilities"
    BINARY_LOSS = "binary_loss"
    BY_DIFFERENCE = "by_difference"

    # optimizers
    OPTIMIZER = "optimizer"
    STEP_IS_RATE = "step_is_rate"
    NORMALISED_STEP = "normalised_step"
    PLAIN_STEP = "plain_step"

    # schedules
    SETS_RATE = "sets_rate"

    # data
    LOADER = "loader"
    OVER_DATASET = "over_dataset"
    HOLDS_SAMPLES = "holds_samples"
    SAMPLER_SHUFFLES = "sampler_shuffles"
    SAMPLER_WHOLE = "sampler_whole"
    SAMPLER_EVEN = "sampler_even"
    BALANCES = "balances"
    SAMPLER_SEQUENTIAL = "sampler_sequential"
    PIPELINE_KEEPS_SAMPLES = "pipeline_keeps_samples"
    PIPELINE_KEEPS_COLUMNS = "pipeline_keeps_columns"
    TAKES_PART = "takes_part"
    LISTS = "lists"
    ITERATES = "iterates"

    # transforms
    SCALES_PIXELS = "scales_pixels"
    SCALER = "scaler"
    RESIZES = "resizes"
    RANDOM_TRANSFORM = "random_transform"
    READS_PICTURE = "reads_picture"
    READS_BYTES = "reads_bytes"

    # files
    READS_WEIGHTS = "reads_weights"
    LOADS_WEIGHTS = "loads_weights"
    GIVES_WEIGHTS = "gives_weights"
    SAVES_ARRAYS = "saves_arrays"
    SAVES_WEIGHTS = "saves_weights"
    LISTS_FILES = "lists_files"
    AS_PATH = "as_path"

    # ranks
    BEGINS_GROUP = "begins_group"
    WRAPS_RANKS = "wraps_ranks"
    COLLECTIVE = "collective"
    SHARES_WEIGHTS = "shares_weights"
    MEETS = "meets"
    OWN_RANK = "own_rank"
    WORLD_SIZE = "world_size"
    OWN_WORKER = "own_worker"

    # python
    COLLECTS = "collects"
    LOOKS_UP = "looks_up"
    HOLDS = "holds"
    TEXT = "text"
    FORMATS = "formats"
    SAYS = "says"
    RECORDS = "records"
    ASIDE = "aside"
    ASKS = "asks"
