// A web search as a caller requests it, independent of any provider's format.

/** The options of a web search that the provider runs. */
export interface SearchPreferences {
  max_uses?: number;
  allowed_domains?: string[];
  blocked_domains?: string[];
  /** How much of the results the model reads: `low`, `medium`, `high`. */
  context?: string;
  /** City, region, country and time zone, as far as the caller gave them. */
  location?: Readonly<Record<string, string>>;
}
