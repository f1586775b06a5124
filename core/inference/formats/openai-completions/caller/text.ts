// What of an answer this dialect can say: text. All else becomes a warning, one of each kind.
import type { Logprob, Part, ReplyMeta, Stop, Warning } from '../../../canonical/types.ts';
import { finishReason } from '../../openai-chat/caller/pieces.ts';

const LOST: Readonly<Record<string, string>> = {
  citation_dropped: 'Citations cannot be shown here.',
  reasoning_dropped: 'Reasoning cannot be shown here; POST /v1/chat/completions shows it.',
  content_dropped: 'The answer holds more than text; POST /v1/chat/completions shows it.',
};

/** Gathers what was lost. */
export class Losses {
  readonly #codes = new Set<string>();

  add(code: keyof typeof LOST & string): void {
    this.#codes.add(code);
  }

  /** What of `part` cannot be shown is noted; whether its text can. */
  shows(part: Part, meta: ReplyMeta): boolean {
    if (part.type === 'text') {
      if ((part.citations?.length ?? 0) > 0) this.add('citation_dropped');
      return true;
    }
    if (part.type === 'refusal') return true;
    if (part.type !== 'reasoning') this.add('content_dropped');
    else if (meta.reasoning === 'include') this.add('reasoning_dropped');
    return false;
  }

  warnings(): Warning[] {
    return [...this.#codes].map((code) => ({ code, message: LOST[code] as string }));
  }
}

/** `stop`, `length` or `content_filter`; this dialect has no other. */
export function finishText(stop: Stop | null): string {
  const reason = finishReason(stop, false);
  return reason === 'tool_calls' ? 'stop' : reason;
}

/** `logprobs` of a choice, whose tokens begin at `offset` of its text; what has no probability is null, as JSON has NaN. */
export function logprobsText(logprobs: readonly Logprob[], offset: number): string {
  let at = offset;
  const text_offset: number[] = [];
  for (const { token } of logprobs) {
    text_offset.push(at);
    at += token.length;
  }
  return JSON.stringify({
    tokens: logprobs.map(({ token }) => token),
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: logprobs.map(({ top }) =>
      top.length === 0 ? null : Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset,
  });
}
