// Finds the maker of a Bedrock model: fields outside Converse's common ones differ by maker.
import type { Target } from '../../../canonical/contract.ts';
import type { ReasoningFormat } from '../../../canonical/types.ts';

type Maker = 'anthropic' | 'amazon' | 'openai' | 'other';

const MAKERS: readonly string[] = ['anthropic', 'amazon', 'openai'];
/** `anthropic.claude…`, `eu.anthropic.…`, `arn:aws:bedrock:…:inference-profile/us.anthropic.…`. */
const NAMED = /(?:^|[./])(anthropic|amazon|openai)\./;

/**
 * Maker of the endpoint's model, taken from its id. For ids that do not show it, such as those of application
 * inference profiles, a flag like `maker_anthropic` names it.
 */
export function makerOf(target: Target): Maker {
  const flag = target.flags.find((name) => name.startsWith('maker_'))?.slice(6);
  const maker = flag ?? NAMED.exec(target.upstream_model)?.[1] ?? 'other';
  return MAKERS.includes(maker) ? (maker as Maker) : 'other';
}

/** Format of the signed reasoning that the endpoint writes and accepts. */
export function formatOf(target: Target): ReasoningFormat {
  return makerOf(target) === 'anthropic' ? 'anthropic-claude-v1' : 'unknown';
}
