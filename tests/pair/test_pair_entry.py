from __future__ import annotations

import pytest

from trueline.adapters.guest.entry import Entry, looks_like_entry
from trueline.model.trouble import BadUsage


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("models:net", Entry("models", "net")),
        ("pkg.models.resnet:ResNet.small", Entry("pkg.models.resnet", "ResNet.small")),
        ("path/to/my-net.py:net", Entry("path/to/my-net.py", "net", is_file=True)),
        ("net.py:READY", Entry("net.py", "READY", is_file=True)),
        ("odd:folder/net.py:net", Entry("odd:folder/net.py", "net", is_file=True)),
        ("模型:网络", Entry("模型", "网络")),
    ],
)
def test_what_can_be_meant(text: str, wanted: Entry) -> None:
    assert Entry.parse(text) == wanted
    assert str(wanted) == text
    assert looks_like_entry(text)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("models", "side.no_colon"),
        ("models.py", "side.no_colon"),
        (":net", "side.no_colon"),
        ("models:", "side.no_colon"),
        ("", "side.no_colon"),
        ("models:net()", "side.bad_factory"),
        ("models:a..b", "side.bad_factory"),
        ("my-models:net", "side.bad_module"),
        (".models:net", "side.bad_module"),
        ("path/to/models:net", "side.not_python"),
        ("weights/model.pth:net", "side.not_python"),
    ],
)
def test_what_cannot_is_said_in_one_line(text: str, id: str) -> None:
    with pytest.raises(BadUsage) as caught:
        Entry.parse(text)
    assert caught.value.message.id == id
    assert "\n" not in str(caught.value)
    assert not looks_like_entry(text)


@pytest.mark.parametrize("text", ["model.pth", "C:/x.ckpt", "run/a:b.pth", "model.safetensors"])
def test_a_file_is_not_taken_for_an_entry(text: str) -> None:
    assert not looks_like_entry(text)
