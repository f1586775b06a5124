// What each loss means, for the page. The test of the page holds the list against the code, both ways.

export interface Meaning {
  readonly class: 'hint' | 'behaviour' | 'content';
  readonly text: string;
}

const hint = (text: string): Meaning => ({ class: 'hint', text });
const behaviour = (text: string): Meaning => ({ class: 'behaviour', text });
const content = (text: string): Meaning => ({ class: 'content', text });

export const meanings: Readonly<Record<string, Meaning>> = {
  audio_format_dropped: behaviour('The provider chooses the format of its sound.'),
  audio_format_unsupported: content('Sound in this format is not taken.'),
  audio_unsupported: content('Sound is not taken.'),
  beta_ignored: hint('The endpoint does not list this beta of the messages API.'),
  beta_member_unsupported: content('A field of the messages API whose beta the endpoint does not list.'),
  cache_hint_dropped: hint(
    'There is no place for this cache hint; the price may be higher, the answer is the same.',
  ),
  cache_warmup_unsupported: content('`max_tokens: 0` warms a cache at Anthropic endpoints alone.'),
  candidates_unsupported: content('The provider gives one answer at a time.'),
  citation_dropped: hint('Citations of an earlier answer are not sent back.'),
  citations_unsupported: behaviour('The provider does not cite documents.'),
  completion_as_chat: behaviour(
    'The prompt goes to a model that answers messages instead of going on with a text.',
  ),
  context_edit_dropped: hint(
    'Nothing is removed; what is read of earlier reasoning is for the provider to say.',
  ),
  custom_tool_emulated: behaviour(
    'A tool that takes free text goes as a function with one text field `input`.',
  ),
  custom_tool_grammar: content('The text of a tool cannot be held to a grammar.'),
  document_flattened: behaviour('A document goes as text with a header of its title and context.'),
  document_format_unsupported: content('Documents of this type are not taken.'),
  document_unsupported: content('The endpoint cannot read the document.'),
  effort_adjusted: behaviour('The model has no such level of effort; the nearest is used.'),
  file_unsupported: content('A file that is stored at another provider.'),
  image_detail_dropped: hint('The provider chooses the detail of images.'),
  image_format_unsupported: content('Images of this type are not taken.'),
  image_unsupported: content('The model sees no images, or not at this place.'),
  json_object_as_instruction: behaviour('JSON is asked for by a sentence in the instructions.'),
  json_schema_unsupported: content('The model keeps to no schema.'),
  json_with_tools: content('The model takes these tools or a JSON answer, not both.'),
  logprobs_unsupported: content('The provider tells no probabilities.'),
  max_tokens_too_small: content('The provider takes no cap as low as this.'),
  media_unsupported: content('Media of an earlier answer cannot be sent back.'),
  modality_unsupported: content('The endpoint gives no sound or pictures.'),
  name_dropped: hint('The provider knows no names of speakers.'),
  parallel_dropped: behaviour('The model may call several tools at once.'),
  prediction_dropped: hint('The provider takes no predicted output.'),
  prefill_unsupported: content('The model does not go on with an answer that was begun.'),
  reasoning_dropped: behaviour('The model does not reason, or not under this request.'),
  reasoning_not_disabled: behaviour('The model cannot stop reasoning; its lowest effort is used.'),
  reasoning_signature_dropped: hint(
    'Reasoning of earlier turns that this provider cannot read stays behind.',
  ),
  sampling_dropped: behaviour('The provider or the model has no such sampling field.'),
  search_domains_unsupported: content('The search of the provider cannot be held to sites.'),
  search_option_dropped: behaviour('The search of the provider has no such option.'),
  search_with_tools: content('The model searches the web or calls functions, not both.'),
  search_result_unsupported: content('A search result cannot stand here.'),
  server_tool: content('The endpoint does not offer this tool of its provider, and the model must use it.'),
  server_tool_dropped: behaviour('A tool that its provider runs, offered and not forced, is left out.'),
  server_tool_unsupported: content('The tool runs at another provider only, and the model must use it.'),
  service_tier_ignored: behaviour('The endpoint has no price for this tier.'),
  stop_too_many: content('More stop sequences than the provider takes.'),
  stop_unsupported: content('The endpoint takes no stop sequences.'),
  strict_dropped: behaviour('The model does not promise to keep to the schema of the tool.'),
  system_position_changed: behaviour('Instructions between turns go as text of the user, marked `[system]`.'),
  temperature_clamped: behaviour('The provider takes 0 to 1; 1 is used.'),
  tool_choice_dropped: behaviour('The history holds calls, so the tools stay declared and may be called.'),
  tool_media_moved: behaviour('Media of a tool’s result stand behind it.'),
  tool_option_dropped: hint('Options of one provider’s tools.'),
  tools_unsupported: content('The model takes no tools.'),
  unknown_parameter_dropped: behaviour('A field that has no meaning outside its own API.'),
  unsupported_parameter: content('A field that changes what the answer is made of, and no other API has.'),
  user_dropped: hint('The provider has no field for the end user.'),
  verbosity_dropped: behaviour('The provider has no such field.'),
  video_format_unsupported: content('Video in this format is not taken.'),
  video_unsupported: content('Video is not taken.'),
};

/** Warnings of answers: what a dialect has no word for. */
export const ofAnswers: Readonly<Record<string, string>> = {
  citation_dropped: 'A citation of a kind that the dialect cannot show.',
  content_dropped: 'A part of the answer that the dialect cannot show.',
  malformed_output: 'The provider says that its answer is malformed.',
  store_ignored: 'Answers are never stored at the provider.',
  turn_paused: 'The provider paused the turn; send it back to go on.',
};
