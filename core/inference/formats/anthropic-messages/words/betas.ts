// Betas: parts of the format that a header asks for.
import type { Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';

/** The betas of `request` that the endpoint lists; `*` lists all. */
export function listedBetas(request: CanonicalRequest, target: Target): string[] {
  const { betas } = target.capabilities;
  return (request.anthropic?.betas ?? []).filter((beta) => betas.includes('*') || betas.includes(beta));
}
