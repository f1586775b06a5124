// What is lost where a call of the completions dialect meets an endpoint that answers messages.
import type { CanonicalRequest, Loss } from './types.ts';

const NEEDS = 'needs a model that continues texts; this one answers messages.';

/** Losses of a completion that is sent as a chat; [] for other calls. */
export function completionLosses({ continues, completion, generation }: CanonicalRequest): Loss[] {
  if (continues === undefined) return [];
  const losses: Loss[] = [
    {
      class: 'behaviour',
      code: 'completion_as_chat',
      param: 'prompt',
      message:
        'The prompt was sent as a message of the user; the model answers it instead of going on with it.',
    },
  ];
  const lose = (param: string, message: string): Loss => {
    const loss: Loss = { class: 'content', code: 'unsupported_parameter', param, message };
    losses.push(loss);
    return loss;
  };
  if (generation.max_tokens === 0) lose('max_tokens', `An answer of no tokens ${NEEDS}`);
  if (completion === undefined) return losses;
  if (completion.tokens > 0) {
    lose('prompt', `A prompt as tokens ${NEEDS} Send the text.`).essential = true;
  } else if (completion.prompts > 1) {
    lose('prompt', `More than one prompt ${NEEDS} Send one call for each.`).essential = true;
  }
  for (const name of completion.asks) lose(name, `'${name}' ${NEEDS}`);
  return losses;
}
