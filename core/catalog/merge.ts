// Several files become one catalog: a later file adds providers and models, adds endpoints to a known model, and
// replaces what it names again (a provider whole, a model's given fields, an endpoint of equal identity).

import { isIP } from 'node:net';
import type { Step } from '../kernel/index.ts';
import { canonicalJson, crockford26, type Id, sha256 } from '../kernel/index.ts';
import { CatalogError, type FileFault, type ReadFile } from './file.ts';
import type { FileEndpoint, FileModel, FilePrice, FileProvider } from './file-schema.ts';
import { type WholeProvider, withPreset } from './presets/presets.ts';
import { taskFault, taskOf } from './task.ts';
import type { CatalogFormats } from './types.ts';

export const SANDBOX = 'sandbox';
export const DEFAULT_REGION = 'global';

export interface MergedModel extends FileModel {
  name: string;
  context_length: number;
  endpoints: FileEndpoint[];
}
export interface Merged {
  readonly providers: ReadonlyMap<string, WholeProvider>;
  readonly models: ReadonlyMap<string, MergedModel>;
  /** Things worth a look that do not make a file unusable. */
  readonly notices: readonly FileFault[];
}

/**
 * Id of an endpoint: the same file gives the same ids everywhere, so that policies travel. `family` is one beside the
 * provider's own, by which a provider is called in two ways for one model.
 */
export function endpointId(
  model: string,
  provider: string,
  upstream_model: string,
  at: { readonly region: string; readonly family?: string | undefined },
): Id<'endpoint'> {
  const names = [model, provider, upstream_model, at.region, ...(at.family === undefined ? [] : [at.family])];
  return `ep_${crockford26(sha256(canonicalJson(names)))}`;
}

/** What of endpoint `file` tells it apart from others of its provider and upstream model. */
export function placeOf(
  file: FileEndpoint,
  kind: string | undefined,
  { kinds }: CatalogFormats,
): { region: string; family?: string | undefined } {
  const region = file.region ?? DEFAULT_REGION;
  const own = kind === undefined ? undefined : kinds.get(kind)?.families.text;
  return file.family === undefined || file.family === own ? { region } : { region, family: file.family };
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '[::1]') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** Why `base_url` cannot be used, or null. Keys travel to it, so it is https beyond this machine. */
function addressFault(base_url: string, insecure: boolean): string | null {
  const url = URL.parse(base_url);
  if (url === null) return 'expected an address such as https://api.example.com/v1';
  if (url.username !== '' || url.password !== '') return 'carries credentials; name them in api_key_env';
  if (url.search !== '' || url.hash !== '') return 'expected no query and no fragment';
  if (url.protocol === 'https:') return null;
  if (url.protocol !== 'http:') return 'expected https://';
  if (insecure || isLoopback(url.hostname)) return null;
  return 'expected https:// (http:// only to this machine, or with SVC_INSECURE_UPSTREAMS=1)';
}

export interface MergeOptions {
  readonly insecure_upstreams?: boolean;
  /** The wire formats that files may name. */
  readonly formats: CatalogFormats;
}

class Merge {
  readonly providers = new Map<string, WholeProvider>();
  readonly models = new Map<string, MergedModel>();
  readonly faults: FileFault[] = [];
  readonly notices: FileFault[] = [];
  private readonly insecure: boolean;
  private readonly formats: CatalogFormats;

  constructor({ insecure_upstreams, formats }: MergeOptions) {
    this.insecure = insecure_upstreams ?? false;
    this.formats = formats;
  }

  addFile(file: ReadFile): void {
    const seen = new Set<string>();
    const once = (id: string, steps: Step[]) => {
      if (seen.has(id)) this.faults.push(file.fault(steps, `${id} stands twice in this file`));
      seen.add(id);
    };
    file.content.providers?.forEach((provider, i) => {
      const at: Step[] = ['providers', i];
      once(provider.id, [...at, 'id']);
      this.addProvider(file, at, provider);
    });
    file.content.models?.forEach((model, i) => {
      const at: Step[] = ['models', i];
      once(model.id, [...at, 'id']);
      this.addModel(file, at, model);
    });
  }

  private addProvider(file: ReadFile, at: Step[], said: FileProvider): void {
    if (said.id === SANDBOX) this.faults.push(file.fault([...at, 'id'], 'sandbox is built in'));
    const provider = withPreset(said);
    if ('missing' in provider) {
      const reason = 'is required, or a preset';
      for (const key of provider.missing) this.faults.push(file.fault([...at, key], reason));
      return;
    }
    const reason = addressFault(provider.base_url, this.insecure);
    if (reason !== null) this.faults.push(file.fault([...at, 'base_url'], reason));
    this.providers.set(provider.id, provider);
  }

  private addModel(file: ReadFile, at: Step[], model: FileModel): void {
    const known = this.models.get(model.id);
    if (model.id.startsWith(`${SANDBOX}/`)) {
      this.faults.push(file.fault([...at, 'id'], 'sandbox models are built in'));
    }
    const whole = { ...known, ...model };
    for (const key of ['name', 'context_length'] as const) {
      if (whole[key] === undefined) this.faults.push(file.fault([...at, key], 'is required for a new model'));
    }
    if (known === undefined && (model.endpoints ?? []).length === 0) {
      this.faults.push(file.fault([...at, 'endpoints'], 'expected at least one for a new model'));
    }
    for (const key of ['released_at', 'deprecated_at', 'retires_at'] as const) {
      const day = model[key];
      if (day !== undefined && Number.isNaN(Date.parse(day))) {
        this.faults.push(file.fault([...at, key], 'expected a date such as 2026-01-31'));
      }
    }
    const endpoints = new Map<string, FileEndpoint>();
    const idOf = (e: FileEndpoint) =>
      endpointId(
        model.id,
        e.provider,
        e.upstream_model,
        placeOf(e, this.providers.get(e.provider)?.kind, this.formats),
      );
    for (const endpoint of known?.endpoints ?? []) endpoints.set(idOf(endpoint), endpoint);
    const here = new Set<string>();
    model.endpoints?.forEach((endpoint, j) => {
      const place = [...at, 'endpoints', j];
      const id = idOf(endpoint);
      if (here.has(id)) this.faults.push(file.fault(place, 'the same endpoint stands twice'));
      here.add(id);
      this.checkEndpoint(file, place, endpoint);
      this.checkTask(file, place, endpoint, whole.modalities?.out);
      endpoints.set(id, endpoint);
    });
    this.models.set(model.id, { ...whole, endpoints: [...endpoints.values()] } as MergedModel);
  }

  private checkEndpoint(file: ReadFile, at: Step[], endpoint: FileEndpoint): void {
    const provider = this.providers.get(endpoint.provider);
    if (provider === undefined) {
      this.faults.push(file.fault([...at, 'provider'], `unknown provider ${endpoint.provider}`));
    }
    this.checkBands(file, at, endpoint.price as FilePrice, endpoint.bands);
    for (const [tier, row] of Object.entries(endpoint.tiers ?? {})) {
      this.checkBands(file, [...at, 'tiers', tier], row.price as FilePrice, row.bands);
    }
    this.checkScheduled(file, at, endpoint);
    const price = endpoint.price as FilePrice;
    const sold = endpoint.capabilities?.server_tools?.find((tool) =>
      /^(\*|google_search|web_search(_.*)?)$/.test(tool),
    );
    if (sold !== undefined && price.search_unit === undefined) {
      const reason = `no search_unit: '${sold}' is not offered without a price`;
      this.notices.push(file.fault([...at, 'price'], reason));
    }
    if (
      provider !== undefined &&
      this.formats.kinds.get(provider.kind)?.hour_writes === true &&
      price.cache_write !== undefined &&
      price.cache_write_1h === undefined
    ) {
      const reason = 'no cache_write_1h: one hour writes are billed at 1.6 × cache_write';
      this.notices.push(file.fault([...at, 'price'], reason));
    }
  }

  /** Prices to come follow each other by their days. */
  private checkScheduled(file: ReadFile, at: Step[], { scheduled }: FileEndpoint): void {
    let before = '';
    for (const [k, { from, price, bands, tiers }] of (scheduled ?? []).entries()) {
      const place = [...at, 'scheduled', k];
      if (Number.isNaN(Date.parse(from))) {
        this.faults.push(file.fault([...place, 'from'], 'expected a date such as 2026-01-31'));
      } else if (from <= before) {
        this.faults.push(
          file.fault([...place, 'from'], 'expected a later day than that of the price before'),
        );
      }
      before = from;
      this.checkBands(file, place, price as FilePrice, bands);
      for (const [tier, row] of Object.entries(tiers ?? {})) {
        this.checkBands(file, [...place, 'tiers', tier], row.price as FilePrice, row.bands);
      }
    }
  }

  /** A model that embeds or ranks has endpoints of that kind only, and the other way round. */
  private checkTask(
    file: ReadFile,
    at: Step[],
    endpoint: FileEndpoint,
    out: readonly string[] | undefined,
  ): void {
    const kind = this.providers.get(endpoint.provider)?.kind;
    const facts = kind === undefined ? undefined : this.formats.kinds.get(kind);
    if (kind === undefined || facts === undefined) return;
    const { family } = endpoint;
    // An endpoint may name the family of a chat model at a provider whose own format is another.
    const makes_text = family !== undefined && this.makesText(family);
    const task = taskOf(out);
    const reason = makes_text && task === null ? null : taskFault(kind, facts.families, out);
    if (reason !== null) this.faults.push(file.fault([...at, 'provider'], reason));
    else if (family !== undefined && !makes_text && task === null) {
      const reason = `${family} needs a model with modalities.out [embedding] or [ranking]`;
      this.faults.push(file.fault([...at, 'family'], reason));
    }
  }

  /** Whether some kind of provider answers messages in `family`. */
  private makesText(family: string): boolean {
    return [...this.formats.kinds.values()].some(({ families }) => families.text === family);
  }

  private checkBands(file: ReadFile, at: Step[], base: FilePrice, bands: FileEndpoint['bands']): void {
    const kinds = Object.keys(base).sort().join(', ');
    let from = 0;
    bands?.forEach((band, k) => {
      const place = [...at, 'bands', k];
      if (band.from_prompt_tokens <= from) {
        this.faults.push(file.fault([...place, 'from_prompt_tokens'], 'expected to rise from band to band'));
      }
      from = band.from_prompt_tokens;
      // A band that leaves a kind out would fall back to another rate than the reader expects.
      if (Object.keys(band.price).sort().join(', ') !== kinds) {
        this.faults.push(file.fault([...place, 'price'], `expected the kinds of the price: ${kinds}`));
      }
    });
  }
}

/**
 * The union of `files`, later ones over earlier ones.
 * @throws CatalogError with every fault; then nothing of the files is used.
 */
export function mergeFiles(files: readonly ReadFile[], options: MergeOptions): Merged {
  const merge = new Merge(options);
  for (const file of files) merge.addFile(file);
  if (merge.faults.length > 0) throw new CatalogError(merge.faults);
  return { providers: merge.providers, models: merge.models, notices: merge.notices };
}
