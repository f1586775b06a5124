// What is lost when a call of the completions dialect is sent to an endpoint that answers messages.
import type { CanonicalRequest, Loss } from './types.ts';

const NEEDS = 'needs a model that completes text; this one answers messages.';

/** Losses of a completion that is sent as a chat; empty for other calls. */
export function completionLosses({ continues, completion, generation }: CanonicalRequest): Loss[] {
  if (continues === undefined) return [];
  const losses: Loss[] = [
    {
      class: 'behaviour',
      code: 'completion_as_chat',
      param: 'prompt',
      message: 'The prompt was sent as a user message; the model answers it instead of completing it.',
    },
  ];
  const lose = (param: string, message: string): Loss => {
    const loss: Loss = { class: 'content', code: 'unsupported_parameter', param, message };
    losses.push(loss);
    return loss;
  };
  if (generation.max_tokens === 0) lose('max_tokens', `An answer of zero tokens ${NEEDS}`);
  if (completion === undefined) return losses;
  if (completion.tokens > 0) {
    lose('prompt', `A prompt of token ids ${NEEDS} Send text.`).essential = true;
  } else if (completion.prompts > 1) {
    lose('prompt', `A call with several prompts ${NEEDS} Send one call per prompt.`).essential = true;
  }
  for (const name of completion.asks) lose(name, `'${name}' ${NEEDS}`);
  return losses;
}
