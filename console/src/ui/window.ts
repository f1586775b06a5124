// The part of a long list that is drawn. Ten thousand rows as elements make every frame of a scroll take longer than a
// blink, so those out of sight are room of the same height.
import { type RefObject, useEffect, useState } from 'react';

/** Rows by which the part moves, and that are drawn beyond each edge. */
const STEP = 20;
/** A list as short as this is drawn whole. */
const WHOLE = 120;

export interface Part {
  /** Rows from `from` on, before `to`. */
  readonly from: number;
  readonly to: number;
  /** Pixels of the rows before and after. */
  readonly above: number;
  readonly below: number;
}

/** What of `count` rows, each `row_height` pixels high, is drawn in a frame of `height` that is scrolled to `top`. Pure. */
export function partOf(args: { count: number; row_height: number; top: number; height: number }): Part {
  const { count, row_height, top, height } = args;
  if (count <= WHOLE || row_height <= 0) return { from: 0, to: count, above: 0, below: 0 };
  const first = Math.floor(top / row_height / STEP) * STEP;
  const from = Math.max(0, Math.min(first, count) - STEP);
  const to = Math.min(count, first + Math.ceil(height / row_height) + 2 * STEP);
  return { from, to, above: from * row_height, below: (count - to) * row_height };
}

/** The part of `count` rows to draw in the scrolling frame around `body`, whose first row gives the height of all. */
export function usePart(body: RefObject<HTMLElement | null>, count: number): Part {
  const [part, setPart] = useState<Part>(() => partOf({ count, row_height: 0, top: 0, height: 0 }));
  useEffect(() => {
    const frame = body.current?.closest('.table-scroll');
    if (!frame) return;
    const measure = () => {
      const row_height = body.current?.querySelector<HTMLElement>('tr.linked')?.offsetHeight ?? 0;
      const next = partOf({ count, row_height, top: frame.scrollTop, height: frame.clientHeight });
      setPart((before) =>
        before.from === next.from && before.to === next.to && before.below === next.below ? before : next,
      );
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(frame);
    frame.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      frame.removeEventListener('scroll', measure);
    };
  }, [body, count]);
  return part;
}
