// A web search as a caller asks for it, independent of any provider's wording.

/** What is asked of a search of the web that the provider runs. */
export interface SearchPreferences {
  max_uses?: number;
  allowed_domains?: string[];
  blocked_domains?: string[];
  /** How much of what is found the model reads: `low`, `medium`, `high`. */
  context?: string;
  /** City, region, country and time zone; each where the caller gave it. */
  location?: Readonly<Record<string, string>>;
}
