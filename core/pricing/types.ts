// Usage in, cost out.

/** Disjoint on the input side: prompt = input + cache_read + cache_write. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Part of `output_tokens`. */
  reasoning_tokens: number;
  cache_write_5m_tokens?: number;
  cache_write_30m_tokens?: number;
  cache_write_1h_tokens?: number;
  audio_input_tokens?: number;
  audio_output_tokens?: number;
  image_input_tokens?: number;
  image_output_tokens?: number;
  tool_prompt_tokens?: number;
  accepted_prediction_tokens?: number;
  rejected_prediction_tokens?: number;
  search_units?: number;
  requests?: number;
  /** The provider's counts contradicted each other and were cut to fit; reported to operators, never to callers. */
  inconsistent?: true;
  /** Where a call asked for several answers, the counts are those of one. */
  of_one_choice?: true;
  source: 'provider' | 'estimate';
}

export interface CostLine {
  kind: string;
  units: number;
  unit_price_nano: number;
  micro_usd: number;
}

export interface Cost {
  total_micro_usd: number;
  lines: CostLine[];
  price_version: string;
  estimated?: boolean;
  /** What the provider reported above the cap of the call; nobody was charged for it. */
  written_off_micro_usd?: number;
}

/** What the bounds of a hold need to know of a prompt; plain numbers, so that pricing stands above inference. */
export interface PromptSize {
  /** UTF-8 bytes of all text: messages, system, tools and schemas. */
  text_bytes: number;
  /** Bytes of `text_bytes` in characters beyond the Latin blocks (U+0250 and up). */
  non_latin_bytes: number;
  /** Bytes of `text_bytes` that are space, tab, LF or CR. */
  white_space_bytes: number;
  messages: number;
  images: { detail?: 'auto' | 'low' | 'high' | 'original' }[];
  /** Audio whose length is known, in seconds. */
  audio_seconds: number;
  /** Decoded bytes of audio whose length is not known. */
  audio_bytes: number;
  /** Pages of PDF files whose page count is known. */
  pdf_pages: number;
  /** Decoded bytes of PDF files whose page count is not known. */
  pdf_bytes: number;
}
