// What a snapshot keeps of the files, so that staff can set other prices from them.
import type { FileEndpoint } from '../file-schema.ts';

/** An endpoint as files say it, without what staff set. */
export interface FiledEndpoint {
  readonly file: FileEndpoint;
  readonly model_id: string;
  readonly markup_bps: number;
  /** `YYYY-MM-DD`; null: no day is set. */
  readonly retires_at: string | null;
}
