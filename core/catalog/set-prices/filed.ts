// What the files say of each endpoint, by its id, and the same with the prices that staff set. Pure.
import type { Id } from '../../kernel/index.ts';
import type { FileEndpoint } from '../file-schema.ts';
import { endpointId, type Merged, type MergedModel, placeOf } from '../merge.ts';
import type { CatalogFormats } from '../types.ts';
import type { FiledEndpoint } from './filed-endpoint.ts';
import { type SetPrice, withSetPrices } from './rows.ts';

/** Prices that staff set, by endpoint. */
export type SetPrices = ReadonlyMap<string, readonly SetPrice[]>;

function idOf(
  merged: Merged,
  model: MergedModel,
  file: FileEndpoint,
  formats: CatalogFormats,
): Id<'endpoint'> {
  const place = placeOf(file, merged.providers.get(file.provider)?.kind, formats);
  return endpointId(model.id, file.provider, file.upstream_model, place);
}

/** The endpoints of `merged` by their ids. */
export function filedEndpoints(
  merged: Merged,
  formats: CatalogFormats,
): ReadonlyMap<Id<'endpoint'>, FiledEndpoint> {
  const filed = new Map<Id<'endpoint'>, FiledEndpoint>();
  for (const model of merged.models.values()) {
    const { id: model_id, markup_bps = 0, retires_at = null } = model;
    for (const file of model.endpoints)
      filed.set(idOf(merged, model, file, formats), { file, model_id, markup_bps, retires_at });
  }
  return filed;
}

/** `merged` as if its files had the prices of `set` that hold in it. */
export function withSet(merged: Merged, set: SetPrices, formats: CatalogFormats): Merged {
  if (set.size === 0) return merged;
  const models = [...merged.models].map(([id, model]): [string, MergedModel] => {
    const endpoints = model.endpoints.map((file) => {
      const own = set.get(idOf(merged, model, file, formats));
      return own === undefined ? file : withSetPrices(file, own).file;
    });
    return [id, { ...model, endpoints }];
  });
  return { ...merged, models: new Map(models) };
}
