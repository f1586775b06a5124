// Usage in, cost out.

/** Disjoint on the input side: prompt = input + cache_read + cache_write (decisions 4.7.1). */
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
}
