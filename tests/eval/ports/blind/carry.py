"""The pairs' weights, moved away from fresh initialisation and carried from torch's names to MindSpore's by hand."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Replacement = str | Callable[[re.Match[str]], str]

# For each pair, how a torch module path reads in MindSpore: patterns and their replacements, applied in order.
RULES: dict[str, list[tuple[str, Replacement]]] = {
    "densenet": [
        (r"^features\.norm5\.", "norm_last."),
        (r"^features\.denseblock(\d)\.denselayer(\d)\.", lambda m: f"stages.{2 * int(m[1]) - 2}.{int(m[2]) - 1}."),
        (r"^features\.transition(\d)\.", lambda m: f"stages.{2 * int(m[1]) - 1}."),
        (r"^features\.", ""),
        (r"^classifier\.", "fc."),
    ],
    "effnet": [
        (r"^features\.0\.", "stem."),
        (r"^features\.6\.", "head."),
        (r"^features\.1\.block\.", "features.1.block.+"),
        (r"^features\.(\d)\.block\.", lambda m: f"blocks.{int(m[1]) - 1}."),
        (r"^blocks\.0\.\+(\d)", lambda m: f"blocks.0.{int(m[1]) + 1}"),
        (r"^(blocks\.\d)\.0\.", r"\1.expand_conv."),
        (r"^(blocks\.\d)\.1\.", r"\1.depthwise."),
        (r"^(blocks\.\d)\.2\.", r"\1.se."),
        (r"^(blocks\.\d)\.3\.", r"\1.project."),
        (r"\.fc1\.", ".reduce."),
        (r"\.fc2\.", ".expand."),
        (r"^(stem|head|blocks\..*)\.0\.(\w+)$", r"\1.conv.\2"),
        (r"^(stem|head|blocks\..*)\.1\.(\w+)$", r"\1.bn.\2"),
        (r"^classifier\.1\.", "fc."),
    ],
    "swin": [
        (r"^patch_embed\.", "patch_embed.proj."),
        (r"^patch_norm\.", "patch_embed.norm."),
        (r"^layers\.0\.2\.", "merge."),
        (r"^layers\.0\.", "stage1."),
        (r"^layers\.1\.", "stage2."),
        (r"\.mlp\.fc1\.", ".mlp.0."),
        (r"\.mlp\.fc2\.", ".mlp.3."),
    ],
    "gpt": [
        (r"^transformer\.", ""),
        (r"^wte\.", "tok_emb."),
        (r"^wpe\.", "pos_emb."),
        (r"^h\.", "layers."),
        (r"\.ln_(\d)\.", r".ln\1."),
        (r"\.c_attn\.", ".qkv."),
        (r"\.attn\.c_proj\.", ".attn.proj."),
        (r"\.mlp\.c_fc\.", ".ffn.fc_in."),
        (r"\.mlp\.c_proj\.", ".ffn.fc_out."),
    ],
    "seq2seq": [
        (r"\.embed\.", ".embedding."),
        (r"^encoder\.rnn\.", "encoder.gru."),
        (r"^decoder\.rnn\.", "decoder.cell."),
        (r"\.bridge\.0\.", ".fc."),
        (r"\.key_layer\.", ".w_memory."),
        (r"\.query_layer\.", ".w_query."),
        (r"\.energy_layer\.", ".v."),
        (r"\.generator\.", ".out."),
    ],
    "dcgan": [
        (r"^netG\.main\.9\.", "generator.to_rgb."),
        (r"^netG\.main\.(\d)\.", lambda m: f"generator.up{int(m[1]) // 3 + 1}.{int(m[1]) % 3}."),
        (r"^netD\.main\.0\.", "discriminator.conv1."),
        (r"^netD\.main\.2\.", "discriminator.conv2."),
        (r"^netD\.main\.3\.", "discriminator.bn2."),
        (r"^netD\.main\.5\.", "discriminator.conv3."),
        (r"^netD\.main\.6\.", "discriminator.bn3."),
        (r"^netD\.main\.8\.", "discriminator.conv4."),
    ],
    "pointnet": [
        (r"^stn\.", "input_transform."),
        (r"^fstn\.", "feature_transform."),
        (r"transform\.bn4\.", "transform.bn."),
        (r"^conv3\.", "last."),
        (r"^bn3\.", "norm."),
        (r"conv(\d)\.", r"mlp\1.0."),
        (r"bn(\d)\.", r"mlp\1.1."),
        (r"^last\.", "conv3."),
        (r"^norm\.", "bn3."),
        (r"^classifier\.0\.", "fc1."),
        (r"^classifier\.1\.", "bn4."),
        (r"^classifier\.4\.", "fc2."),
    ],
    "wavenet": [
        (r"^embed\.", "embedding."),
        (r"^causal\.", "front."),
        (r"^blocks\.", "stack."),
        (r"\.filter\.", ".conv_filter."),
        (r"\.gate\.", ".conv_gate."),
        (r"\.residual\.", ".conv_res."),
        (r"\.skip\.", ".conv_skip."),
        (r"^post\.1\.", "end1."),
        (r"^post\.3\.", "end2."),
    ],
    "convnext": [
        (r"^downsample_layers\.0\.0\.", "stem.0."),
        (r"^downsample_layers\.0\.1\.", "stem.1.norm."),
        (r"^downsample_layers\.(\d)\.0\.", lambda m: f"body.{3 * int(m[1]) - 2}.0.norm."),
        (r"^downsample_layers\.(\d)\.1\.", lambda m: f"body.{3 * int(m[1]) - 2}.1."),
        (r"^stages\.(\d)\.(\d)\.", lambda m: f"body.{(0, 2, 5)[int(m[1])] + int(m[2])}."),
        (r"\.dwconv\.", ".depthwise."),
        (r"\.pwconv1\.", ".expand."),
        (r"\.pwconv2\.", ".shrink."),
        (r"\.gamma$", ".layer_scale"),
        (r"^norm\.", "head_norm."),
        (r"^head\.", "classifier."),
    ],
    "t5": [
        (r"^shared\.", "embedding."),
        (r"\.block\.", ".layers."),
        (r"\.self_norm\.", ".norm1."),
        (r"\.self_attention\.", ".attn."),
        (r"\.cross_norm\.", ".norm_cross."),
        (r"\.cross_attention\.", ".cross."),
        (r"\.ff_norm\.", ".norm2."),
        (r"\.final_layer_norm\.", ".norm."),
        (r"\.ff\.wi_0\.", ".mlp.gate."),
        (r"\.ff\.wi_1\.", ".mlp.up."),
        (r"\.ff\.wo\.", ".mlp.down."),
        (r"\.([qkv])\.", r".to_\1."),
        (r"\.o\.", ".to_out."),
        (r"\.relative_attention_bias\.", ".rel_bias."),
    ],
    "conformer": [
        (r"^embed\.conv\.0\.", "subsampling.conv1."),
        (r"^embed\.conv\.2\.", "subsampling.conv2."),
        (r"^embed\.linear\.", "subsampling.proj."),
        (r"^encoders\.", "blocks."),
        (r"\.macaron\.net\.", ".ff1."),
        (r"\.feed_forward\.net\.", ".ff2."),
        (r"\.(ff\d)\.0\.", r".\1.norm."),
        (r"\.(ff\d)\.1\.", r".\1.layer1."),
        (r"\.(ff\d)\.4\.", r".\1.layer2."),
        (r"\.norm_att\.", ".attention.norm."),
        (r"\.norm_conv\.", ".conv.norm."),
        (r"\.norm_final\.", ".norm."),
        (r"\.self_attn\.", ".attention."),
        (r"\.linear_q\.", ".query."),
        (r"\.linear_k\.", ".key."),
        (r"\.linear_v\.", ".value."),
        (r"\.linear_pos\.", ".position."),
        (r"\.linear_out\.", ".out."),
        (r"\.pos_bias_", "."),
        (r"\.conv_module\.", ".conv."),
        (r"\.(point|depth)wise_conv", r".\1wise"),
        (r"\.batch_norm\.", ".bn."),
        (r"^fc\.", "classifier."),
    ],
}

_NORM = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}


def mindspore_name(net: str, name: str, kind: str) -> str:
    """What the torch tensor `name`, which belongs to a module of class `kind`, is called in the MindSpore network."""
    for pattern, replacement in RULES[net]:
        name = re.sub(pattern, replacement, name)
    head, _, leaf = name.rpartition(".")
    if "Norm" in kind:
        leaf = _NORM[leaf]
    elif kind == "Embedding":
        leaf = "embedding_table"
    return f"{head}.{leaf}"


def torch_names(net: str, model: Any) -> dict[str, str]:
    """The MindSpore name of each tensor of a torch network, by torch's name; shared ones once."""
    seen: set[int] = set()
    names = {}
    for path, module in model.named_modules():
        tensors = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
        for leaf, tensor in tensors:
            persistent = leaf not in module._non_persistent_buffers_set
            if id(tensor) in seen or leaf == "num_batches_tracked" or not persistent:
                continue
            seen.add(id(tensor))
            name = f"{path}.{leaf}"
            names[name] = mindspore_name(net, name, type(module).__name__)
    return names


def moved(name: str, shape: tuple[int, ...]) -> Array:
    """Values far from fresh ones for one tensor: the same for the same (MindSpore) name."""
    draw = np.random.default_rng(list(name.encode()))
    noise = draw.standard_normal(shape)
    leaf = name.rpartition(".")[2]
    if leaf == "gamma":
        noise = 1 + 0.2 * noise
    elif leaf == "moving_variance":
        noise = draw.uniform(0.5, 1.5, shape)
    elif len(shape) < 2:
        noise = 0.3 * noise
    elif leaf != "embedding_table":
        noise = noise / np.sqrt(np.prod(shape[1:]))
    return noise.astype(np.float32)
