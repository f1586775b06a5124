// Words that files and prices are written with.

export const rateKinds = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_5m',
  'cache_write_1h',
  'reasoning',
  'audio_input',
  'audio_output',
  'image_input',
  'image_output',
  'search_unit',
  'request',
] as const;
export type RateKind = (typeof rateKinds)[number];
export const cancelBillings = ['stops', 'stops_all', 'bills_full', 'unknown'] as const;
/**
 * What a provider does to the bill when its connection is closed: `stops` of a stream, `stops_all` of a whole answer as
 * well, because the server ends the work.
 */
export type CancelBilling = (typeof cancelBillings)[number];
