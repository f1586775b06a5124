// Betas: parts of the format that are requested by a header.
import type { Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';

/**
 * Whether the endpoint supports what a beta whose name begins with `prefix` adds. `*` also stands for betas that have
 * become part of the API, which clients then no longer name.
 */
export function opensBeta(request: CanonicalRequest, target: Target, prefix: string): boolean {
  if (target.capabilities.betas.includes('*')) return true;
  return listedBetas(request, target).some((beta) => beta.startsWith(prefix));
}

/** Whether the endpoint itself edits the conversation as `request` asks; otherwise the gateway does. */
export function editsContext(request: CanonicalRequest, target: Target): boolean {
  return request.context_edits === undefined || opensBeta(request, target, 'context-management-');
}

/** The betas of `request` that the endpoint lists; `*` lists all. */
export function listedBetas(request: CanonicalRequest, target: Target): string[] {
  const { betas } = target.capabilities;
  return (request.anthropic?.betas ?? []).filter((beta) => betas.includes('*') || betas.includes(beta));
}
