// Addresses of the public pages of legal texts, below the public address of the gateway.
import type { Context } from '../kernel/index.ts';
import { moneyIn } from '../topups/index.ts';
import type { DocumentKind } from './types.ts';

type Around = Pick<Context, 'services'>;

/** The page of one version. */
export function documentUrl(context: Around, of: { kind: DocumentKind; version: string }): string {
  return `${moneyIn(context).base_url}/docs/legal/${of.kind}/${of.version}`;
}

/** The page of the list of sub-processors. */
export function subprocessorsUrl(context: Around): string {
  return `${moneyIn(context).base_url}/docs/legal/subprocessors`;
}
