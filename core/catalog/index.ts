export { OWN_KEY_FEE_BPS } from './build.ts';
export {
  type CatalogHandle,
  committedCatalog,
  findModel,
  findPriceVersion,
  type LoadOptions,
  loadCatalog,
  openCatalog,
  readFiles,
  sandboxView,
} from './catalog.ts';
export { chargedRate, chargedRates, type ListRates } from './charged.ts';
export { credentialOf, missingOf } from './credentials.ts';
export { CatalogError, type FileFault } from './file.ts';
export { catalogOperations } from './operations.ts';
export { type PresetName, presetNames } from './preset-names.ts';
export { type Preset, presets } from './presets.ts';
export { type PriceChange, selectPriceHistory } from './store.ts';
export {
  type CancelBilling,
  type Catalog,
  type CatalogFormats,
  type DataPolicy,
  type Endpoint,
  type KindFacts,
  type Model,
  type ModelTask,
  type OwnKeyName,
  type PriceBand,
  type PriceVersion,
  type Provider,
  type RateKind,
  type Rates,
  rateKinds,
  type TargetCapabilities,
  type WireFacts,
} from './types.ts';
