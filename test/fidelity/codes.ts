// What each loss means, for the page. The test of the page holds the list against the code, both ways.

export interface Meaning {
  readonly class: 'hint' | 'behaviour' | 'content';
  readonly text: string;
}

const hint = (text: string): Meaning => ({ class: 'hint', text });
const behaviour = (text: string): Meaning => ({ class: 'behaviour', text });
const content = (text: string): Meaning => ({ class: 'content', text });

export const meanings: Readonly<Record<string, Meaning>> = {
  audio_format_dropped: behaviour('The provider chooses the audio format.'),
  audio_format_unsupported: content('The provider does not accept audio in this format.'),
  audio_unsupported: content('The provider does not accept audio.'),
  beta_ignored: hint('The endpoint does not list this beta of the messages API.'),
  beta_member_unsupported: content('A field of the messages API whose beta the endpoint does not list.'),
  cache_hint_dropped: hint(
    'The provider has no field for this cache hint; the price may be higher, the answer is the same.',
  ),
  cache_warmup_unsupported: content('`max_tokens: 0` warms a cache only at Anthropic endpoints.'),
  candidates_unsupported: content('The provider gives one answer at a time.'),
  citation_dropped: hint('Citations of an earlier answer are not sent back.'),
  citations_unsupported: behaviour('The provider does not cite documents.'),
  completion_as_chat: behaviour(
    'The prompt is sent to a model that answers messages instead of continuing a text.',
  ),
  context_edit_dropped: hint(
    'Nothing is removed; the provider decides how much of earlier reasoning it reads.',
  ),
  custom_tool_emulated: behaviour(
    'A tool that takes free text is sent as a function with one text field `input`.',
  ),
  custom_tool_grammar: content('The provider cannot make the input of a tool follow a grammar.'),
  document_flattened: behaviour('A document is sent as text under a header with its title and context.'),
  document_format_unsupported: content('The provider does not accept documents of this type.'),
  document_unsupported: content('The endpoint cannot read the document.'),
  effort_adjusted: behaviour('The model has no such level of effort; the nearest is used.'),
  file_unsupported: content('A file that is stored at another provider.'),
  image_detail_dropped: hint('The provider chooses the detail of images.'),
  image_format_unsupported: content('The provider does not accept images of this type.'),
  image_unsupported: content('The model does not accept images, or not in this place.'),
  json_object_as_instruction: behaviour('A sentence in the instructions asks for JSON.'),
  json_schema_unsupported: content('The model cannot follow a schema.'),
  json_with_tools: content('The model takes these tools or a JSON answer, not both.'),
  logprobs_unsupported: content('The provider does not report probabilities.'),
  max_tokens_too_small: content('The provider does not accept so low a cap.'),
  media_unsupported: content('Media of an earlier answer cannot be sent back.'),
  modality_unsupported: content('The endpoint does not produce audio or images.'),
  name_dropped: hint('The provider has no field for names of speakers.'),
  parallel_dropped: behaviour('The model may call several tools at once.'),
  prediction_dropped: hint('The provider does not accept predicted output.'),
  prefill_unsupported: content('The model does not continue an answer that was begun.'),
  reasoning_dropped: behaviour('The model does not reason, or not under this request.'),
  reasoning_not_disabled: behaviour('The model cannot stop reasoning; its lowest effort is used.'),
  reasoning_signature_dropped: hint('Reasoning of earlier turns that this provider cannot read is left out.'),
  sampling_dropped: behaviour('The provider or the model has no such sampling field.'),
  search_domains_unsupported: content('The search of the provider cannot be restricted to sites.'),
  search_option_dropped: behaviour('The search of the provider has no such option.'),
  search_with_tools: content('The model searches the web or calls functions, not both.'),
  search_result_unsupported: content('The provider does not accept a search result in this place.'),
  server_tool: content('The endpoint does not offer this tool of its provider, and the model must use it.'),
  server_tool_dropped: behaviour('A tool that its provider runs, offered and not forced, is left out.'),
  server_tool_unsupported: content('The tool runs at another provider only, and the model must use it.'),
  service_tier_ignored: behaviour('The endpoint has no price for this tier.'),
  stop_too_many: content('More stop sequences than the provider accepts.'),
  stop_unsupported: content('The endpoint does not accept stop sequences.'),
  strict_dropped: behaviour('The model does not guarantee that it follows the schema of the tool.'),
  system_position_changed: behaviour(
    'Instructions between turns are sent as text of the user, marked `[system]`.',
  ),
  temperature_clamped: behaviour('The provider accepts 0 to 1; 1 is used.'),
  tool_choice_dropped: behaviour('The history holds calls, so the tools stay declared and may be called.'),
  tool_media_moved: behaviour('Media of a tool’s result are sent after it.'),
  tool_option_dropped: hint('Options of one provider’s tools.'),
  tools_unsupported: content('The model does not accept tools.'),
  unknown_parameter_dropped: behaviour('A field that has no meaning outside its own API.'),
  unsupported_parameter: content('A field that changes the content of the answer and that no other API has.'),
  user_dropped: hint('The provider has no field for the end user.'),
  verbosity_dropped: behaviour('The provider has no such field.'),
  video_format_unsupported: content('The provider does not accept video in this format.'),
  video_unsupported: content('The provider does not accept video.'),
};

/** Warnings of answers: what a dialect has no word for. */
export const ofAnswers: Readonly<Record<string, string>> = {
  citation_dropped: 'A citation of a kind that the dialect cannot show.',
  content_dropped: 'A part of the answer that the dialect cannot show.',
  malformed_output: 'The provider reports that its answer is malformed.',
  store_ignored: 'Answers are never stored at the provider.',
  turn_paused: 'The provider paused the turn; send it back to go on.',
};
