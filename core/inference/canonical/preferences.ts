// What a request asks for beside its messages and parameters, with what is lost where that cannot be met. As with
// `parameters.ts`, a format that forgets one does not compile.
import type { Rows } from './rules.ts';
import type { OutputPreferences } from './types.ts';

/** Modalities asked for beside text, which every answer may have. */
export function modalitiesBesideText(modalities: readonly string[]): readonly string[] {
  return modalities.filter((name) => name !== 'text');
}

export const outputPreferences: Rows<OutputPreferences> = {
  format: { loss: { class: 'content', code: 'json_schema_unsupported', param: 'response_format' } },
  modalities: { loss: { class: 'content', code: 'modality_unsupported', param: 'modalities' } },
  audio: { loss: { class: 'content', code: 'modality_unsupported', param: 'audio' } },
  verbosity: { loss: { class: 'behaviour', code: 'verbosity_dropped', param: 'verbosity' } },
};
