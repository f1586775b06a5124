// A provider key of an organization, and what a process asks the provider about it.
import type { Provider } from '../catalog/index.ts';
import type { Id } from '../kernel/index.ts';

export const byokStatuses = ['active', 'rejected'] as const;

/** A key as its organization sees it: all of it but the secret. */
export interface ByokRow {
  readonly id: Id<'byok'>;
  readonly org_id: Id<'org'>;
  readonly provider_id: string;
  readonly label: string;
  readonly hint: string;
  /** `rejected`: the provider refused it when it was last asked; calls still try it. */
  readonly status: (typeof byokStatuses)[number];
  readonly fallback_to_pool: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_used_at: Date | null;
  readonly validated_at: Date | null;
}

/** The result of a probe: a request that costs nothing. */
export interface Probe {
  /** HTTP status; 0: there was no answer. */
  readonly status: number;
  /** The key is good. */
  readonly ok: boolean;
  /** The provider refused the key itself. */
  readonly rejected: boolean;
  /** How many models the provider lists for the key; null when it does not say. */
  readonly models: number | null;
  /** What the provider says of a key that it did not accept, without the key; null where it says nothing. */
  readonly message: string | null;
}

/** What is known about keys only where providers are called. */
export interface ProviderKeys {
  /** Why `secret` can be no key of `provider`, as the end of a sentence; null: it can be one. */
  faultOf(provider: Provider, secret: string): string | null;
  /** Asks the provider whether it takes the key. Never throws for what the provider or the network does. */
  probe(provider: Provider, secret: string): Promise<Probe>;
}
