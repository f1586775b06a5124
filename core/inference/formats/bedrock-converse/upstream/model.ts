// Which maker's model stands behind a Bedrock model id: what lies outside Converse's common fields differs by maker.
import type { Target } from '../../../canonical/contract.ts';
import type { ReasoningFormat } from '../../../canonical/types.ts';

type Maker = 'anthropic' | 'amazon' | 'openai' | 'other';

const MAKERS: readonly string[] = ['anthropic', 'amazon', 'openai'];
/** `anthropic.claude…`, `eu.anthropic.…`, `arn:aws:bedrock:…:inference-profile/us.anthropic.…`. */
const NAMED = /(?:^|[./])(anthropic|amazon|openai)\./;

/**
 * Maker of the endpoint's model, read from its id; the flag `maker_anthropic` (or another) tells it where the id does
 * not, as that of an application inference profile.
 */
export function makerOf(target: Target): Maker {
  const flag = target.flags.find((name) => name.startsWith('maker_'))?.slice(6);
  const maker = flag ?? NAMED.exec(target.upstream_model)?.[1] ?? 'other';
  return MAKERS.includes(maker) ? (maker as Maker) : 'other';
}

/** Format of the signed reasoning that the endpoint writes and reads back. */
export function formatOf(target: Target): ReasoningFormat {
  return makerOf(target) === 'anthropic' ? 'anthropic-claude-v1' : 'unknown';
}
