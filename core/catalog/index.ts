export { OWN_KEY_FEE_BPS } from './build.ts';
export {
  type CatalogHandle,
  committedCatalog,
  findModel,
  findPriceVersion,
  loadCatalog,
  openCatalog,
  readFiles,
} from './catalog.ts';
export { chargedRate, chargedRates, type ListRates } from './charged.ts';
export { credentialOf, missingOf } from './credentials.ts';
export { CatalogError } from './file.ts';
export { type RateKind, rateKinds } from './kinds.ts';
export { SANDBOX } from './merge.ts';
export { findWithdrawn, getNamedModel } from './named-model.ts';
export { isNameOf, namedModel } from './names.ts';
export { modelsOfEndpoints, readChangelog } from './news/changelog-store.ts';
export { noteWithdrawals } from './news/offer.ts';
export { lockUntoldNews, setAnnouncedThrough, type UntoldNews } from './news/store.ts';
export {
  catalogOperations,
  getNamedModelOperation,
  listEndpointsOperation,
  listModelsOperation,
} from './operations.ts';
export { presetNames } from './presets/names.ts';
export { type Preset, presets } from './presets/presets.ts';
export { listPriceRecords, type PriceRecord } from './recent-store.ts';
export { scheduledPrices } from './scheduled.ts';
export { chargedNano, priceOfUse } from './set-prices/charge.ts';
export { OVERTAKEN, type PlannedPrice, planPrice, setPrice, type WantedPrice } from './set-prices/plan.ts';
export { type RatePair, withSetPrices } from './set-prices/rows.ts';
export { listSetPrices, listSetRecords } from './set-prices/store.ts';
export { type EndpointFigures, type Figures, figuresOf, type ModelFigures } from './shown/figures.ts';
export { listProvidersOperation, ProviderView } from './shown/providers.ts';
export { ModelSearch, modelModalities, modelSorts, searchModels } from './shown/search.ts';
export { findEndpointByNo, selectPrice, selectPriceHistory, selectTierPrices } from './store.ts';
export { callersCatalog, catalogAt, catalogOfOrg, ratesAtTier } from './tiers/tiers.ts';
export {
  type Catalog,
  type CatalogFormats,
  type Endpoint,
  type KindFacts,
  type Model,
  type ModelTask,
  type OwnKeyName,
  type PriceVersion,
  type Provider,
  type Rates,
  stopsWhenLeft,
  type TargetCapabilities,
  type WireFacts,
} from './types.ts';
export {
  EndpointView,
  endpointStatuses,
  ModelView,
  modelCapabilities,
  modelStatuses,
  PriceView,
  priceOf,
  viewEndpoint,
  viewModel,
} from './view.ts';
