// The catalog as the hot path sees it: an immutable snapshot, swapped whole.
import type { Id, NanoUsd } from '../kernel/index.ts';
import type { CancelBilling, RateKind } from './kinds.ts';
import type { FiledEndpoint } from './set-prices/filed-endpoint.ts';

/** What a model makes in place of text: vectors of texts, or an order of documents. Told by `modalities.out`. */
export type ModelTask = 'embed' | 'rerank';

/** What has to be known of a wire format without knowing the format. */
export interface WireFacts {
  /** Answered within this process: without key, network or health. */
  readonly in_process: boolean;
  /** A request of it always names an output cap. */
  readonly needs_cap: boolean;
  /** Mark of the reasoning that its endpoints sign and read back; null: they sign none. */
  readonly signed_format: string | null;
  /** A provider may write its cache, and bill it, where nothing of the request asks for it. */
  readonly writes_cache_unasked: boolean;
  /** Name of its provider in OpenTelemetry's conventions, whoever hosts it; null: that of the provider. */
  readonly provider_name: string | null;
}

/** A kind of provider, as files name it. */
export interface KindFacts {
  /** Family of its endpoints by what their model makes; null: it has no such models. */
  readonly families: Readonly<Record<'text' | ModelTask, string | null>>;
  /** Writes to its cache that live for an hour have a price of their own. */
  readonly hour_writes: boolean;
}

/** The wire formats that a catalog is read with. */
export interface CatalogFormats {
  readonly families: ReadonlyMap<string, WireFacts>;
  readonly kinds: ReadonlyMap<string, KindFacts>;
}

/** What an endpoint can do, model and endpoint already narrowed to one. */
export interface TargetCapabilities {
  tools: boolean;
  parallel_tools: boolean;
  json_schema: boolean;
  vision: boolean;
  audio: boolean;
  pdf: boolean;
  reasoning: boolean;
  cache: boolean;
  /** Wire parameters beyond the common ones that this endpoint takes (`top_k`, `min_p`). */
  parameters: readonly string[];
  betas: readonly string[];
  server_tools: readonly string[];
  prefill: boolean;
  /** How thinking is switched: [] = not at all; `off` listed = it can be switched off. */
  reasoning_controls: readonly ('effort' | 'budget' | 'adaptive' | 'off')[];
  max_output: number;
}

/**
 * Charged nano-USD per unit; absent kinds follow the fallbacks of docs/money/pricing.md#lines. `input` and `output` always
 * present.
 */
export type Rates = { readonly [K in RateKind]?: NanoUsd } & {
  readonly input: NanoUsd;
  readonly output: NanoUsd;
};

/** Prices of a file in thousandths of a nano-USD per unit: exactly what it says, before markup and rounding. */
export type ExactRates = { readonly [K in RateKind]?: number } & {
  readonly input: number;
  readonly output: number;
};

/** An immutable price: equal content has an equal id, a change makes a new one. */
export interface PriceVersion {
  readonly id: Id<'price'>;
  /** Number in the ledger's metering record. */
  readonly price_no: number;
  readonly endpoint_id: Id<'endpoint'>;
  readonly rates: Rates;
  /** Ascending by `from_prompt_tokens`; the whole call uses the one band its prompt size reaches. */
  readonly bands: readonly PriceBand[];
  /** Prices before markup, for the fee on own provider keys; absent where nothing was added. */
  readonly list?: { readonly rates: Rates; readonly bands: readonly PriceBand[] };
  /**
   * Of a call with the caller's own provider key: the provider bills the tokens, we bill this share of their list cost.
   * A multiple of 10; absent: we bill the tokens.
   */
  readonly fee_bps?: number;
  /** Of a price of a reseller's tier: the catalog's price that it stands on. */
  readonly base?: Id<'price'>;
}

/** A price as its file says it, with the model's markup: what tiers of resellers are priced from. */
export interface Unrounded {
  readonly markup_bps: number;
  readonly rates: ExactRates;
  readonly bands: readonly { readonly from_prompt_tokens: number; readonly rates: ExactRates }[];
}

export interface PriceBand {
  readonly from_prompt_tokens: number;
  readonly rates: Rates;
}

export interface ComingPrice {
  /** `YYYY-MM-DD`: the UTC day from whose beginning on it is charged. */
  readonly from: string;
  readonly rates: Rates;
}

interface OwnKeyPrices {
  readonly price: PriceVersion;
  readonly tiers: { readonly [tier: string]: PriceVersion };
}

/** What may be shown of a caller's own provider key. */
export interface OwnKeyName {
  readonly id: Id<'byok'>;
  readonly hint: string;
  readonly fallback_to_pool: boolean;
}

/** Whether closing a stream stops its bill, as far as all tokens of it are shown. */
export function stopsWhenLeft(endpoint: Pick<Endpoint, 'cancel_billing' | 'hidden_reasoning'>): boolean {
  const { cancel_billing, hidden_reasoning } = endpoint;
  return (cancel_billing === 'stops' || cancel_billing === 'stops_all') && !hidden_reasoning;
}

export interface DataPolicy {
  readonly trains: boolean;
  readonly retention_days: number | null;
  readonly zdr: boolean;
}

export interface Endpoint {
  readonly id: Id<'endpoint'>;
  /** Number in the ledger's metering record. */
  readonly endpoint_no: number;
  readonly model_id: string;
  readonly provider: string;
  readonly provider_name: string;
  /** Wire format that it speaks. */
  readonly family: string;
  /** What holds of that format. */
  readonly wire: WireFacts;
  /** The kind of its provider; decides the format within family `embed_rerank`. */
  readonly kind?: string;
  /** Absent: it generates text. */
  readonly task?: ModelTask;
  /** Name of the model's tokenizer, where the file has it. */
  readonly tokenizer?: string;
  readonly upstream_model: string;
  /** Families in which its provider has the same model too; absent: none. */
  readonly other_families?: readonly string[];
  readonly region: string;
  readonly status: 'active' | 'disabled';
  readonly quantization: string | null;
  readonly context_length: number;
  readonly max_output: number;
  readonly capabilities: TargetCapabilities;
  readonly price: PriceVersion;
  /** Prices by service tier (`flex`, `priority`), where the file has them. */
  readonly tiers?: { readonly [tier: string]: PriceVersion };
  /** What tiers of resellers are priced from, by the id of the price; absent: nobody pays a tier here. */
  readonly unrounded?: { readonly [price_id: string]: Unrounded };
  /** Prices to come, the nearest first, where the file has them. */
  readonly coming?: readonly ComingPrice[];
  /** Prices of calls with the caller's own key; absent where the provider takes none. */
  readonly byok?: OwnKeyPrices;
  /** Set on the endpoint as a call with the caller's own key at its provider sees it; never in a catalog. */
  readonly own_key?: OwnKeyName;
  readonly data_policy: DataPolicy;
  readonly cancel_billing: CancelBilling;
  /** Billed reasoning tokens that the stream does not show. */
  readonly hidden_reasoning: boolean;
  readonly flags: readonly string[];
  /** Top-level members of its answers that no caller gets; absent: none beyond those named `__…`. */
  readonly hide?: readonly string[];
  /** Why a live key cannot use it now (name of the missing variable), or null. */
  readonly missing: string | null;
}

export interface Model {
  readonly id: string;
  readonly model_no: number;
  readonly vendor: string;
  readonly name: string;
  readonly context_length: number;
  readonly max_output: number;
  readonly modalities: { readonly in: readonly string[]; readonly out: readonly string[] };
  readonly status: 'active' | 'deprecated';
  readonly markup_bps: number;
  readonly released_at: string | null;
  /** When this installation first had it. */
  readonly known_since: string;
  readonly deprecated_at: string | null;
  readonly retires_at: string | null;
  readonly endpoints: readonly Endpoint[];
  /** Name of the tokenizer, where the file has it. */
  readonly tokenizer?: string;
  /** Format of signed reasoning that this model reads back, where the file has it. */
  readonly reasoning_format?: string;
}

export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  /** Without a trailing slash; paths of the family are appended. */
  readonly base_url: string;
  /** Names of variables (or files) with the pool's keys; the values are read where a call is sent, never kept here. */
  readonly api_key_env: readonly string[];
  readonly api_key_file: readonly string[];
  readonly regions: readonly string[];
  readonly data_policy: DataPolicy;
  readonly terms_url: string | null;
  readonly verified_at: string | null;
  readonly byok: 'no' | 'capable' | 'required';
}

export interface Catalog {
  /** Content hash; named by rows and traces. */
  readonly version: string;
  readonly models: ReadonlyMap<string, Model>;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** What a test key sees: every model, answered by two sandbox endpoints; see `findModel`. */
  readonly sandbox: ReadonlyMap<string, Model>;
  /** When models that are in no file any more left them, by id. Absent: it was not loaded from files. */
  readonly withdrawn?: ReadonlyMap<string, Date>;
  /** Endpoints as the files have them, from which staff set other prices. Absent: it was not loaded from files. */
  readonly filed?: ReadonlyMap<Id<'endpoint'>, FiledEndpoint>;
  /**
   * The same as a reseller's customers see it, who pay `tier_bps` above these prices (0: the same); from memory where it was asked
   * before. Absent: no tier was ever stored.
   */
  readonly atTier?: (tier_bps: number) => Catalog | Promise<Catalog>;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** The present snapshot. */
    catalog(): Catalog;
  }
}
