// What a request asks for besides messages and parameters, with the loss when an endpoint does not support it. As
// with `parameters.ts`, a format that forgets one does not compile.
import type { Rows } from './rules.ts';
import type { OutputPreferences } from './types.ts';

/** Requested modalities except text, which every answer may contain. */
export function modalitiesBesideText(modalities: readonly string[]): readonly string[] {
  return modalities.filter((name) => name !== 'text');
}

export const outputPreferences: Rows<OutputPreferences> = {
  format: { loss: { class: 'content', code: 'json_schema_unsupported', param: 'response_format' } },
  modalities: { loss: { class: 'content', code: 'modality_unsupported', param: 'modalities' } },
  audio: { loss: { class: 'content', code: 'modality_unsupported', param: 'audio' } },
  verbosity: { loss: { class: 'behaviour', code: 'verbosity_dropped', param: 'verbosity' } },
};
