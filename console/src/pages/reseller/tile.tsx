// A figure with its name and what it means.
import type { ReactNode } from 'react';

export function Tile({ label, value, foot }: { label: string; value: ReactNode; foot: ReactNode }) {
  return (
    <section className="card tile" aria-label={label}>
      <div className="tile-head">
        <span>{label}</span>
      </div>
      <div className="tile-value num">{value}</div>
      <div className="tile-foot sub">{foot}</div>
    </section>
  );
}
