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
export { type PriceChange, selectPriceHistory } from './store.ts';
export {
  type CancelBilling,
  type Catalog,
  type DataPolicy,
  type Endpoint,
  type Family,
  type Model,
  type PriceBand,
  type PriceVersion,
  type Provider,
  type ProviderKind,
  type RateKind,
  type Rates,
  rateKinds,
  type TargetCapabilities,
} from './types.ts';
