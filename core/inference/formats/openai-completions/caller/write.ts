// A canonical answer as the JSON text of a text completion.

import { svcText } from '../../../caller/svc.ts';
import type {
  Candidate,
  CanonicalAnswer,
  Logprob,
  ReplyEnd,
  ReplyMeta,
  Warning,
} from '../../../canonical/types.ts';
import { stopWarning } from '../../openai-chat/caller/pieces.ts';
import { usageText } from '../../openai-chat/caller/usage.ts';
import { finishText, Losses, logprobsText } from './text.ts';

const NOTHING: Candidate = { index: 0, content: [], stop: null };

/** The whole answer as JSON text; `end` overrides the stop where a limit cut it. */
export function writeCompletion(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const losses = new Losses();
  const stops: Warning[] = [];
  const candidates = answer.candidates.length > 0 ? answer.candidates : [NOTHING];
  const choices = candidates.map((candidate) => {
    let text = '';
    const logprobs: Logprob[] = [];
    for (const part of candidate.content) {
      if (losses.shows(part, meta) && (part.type === 'text' || part.type === 'refusal')) text += part.text;
      if (part.type === 'text') for (const one of part.logprobs ?? []) logprobs.push(one);
    }
    const known = logprobs.length === 0 ? 'null' : logprobsText(logprobs, 0);
    const stop = end.stop ?? candidate.stop;
    const warning = stopWarning(stop);
    if (warning !== null) stops.push(warning);
    const said = `"index":${candidate.index},"text":${JSON.stringify(text)}`;
    return `{${said},"logprobs":${known},"finish_reason":"${finishText(stop)}"}`;
  });
  return (
    `{"id":${JSON.stringify(meta.request_id)},"object":"text_completion","created":${meta.created},` +
    `"model":${JSON.stringify(meta.model)},"choices":[${choices.join(',')}],"usage":${usageText(end.usage)},` +
    `"svc":${svcText(meta, end, [...losses.warnings(), ...stops])}}`
  );
}
