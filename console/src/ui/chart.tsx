// Stacked bars over UTC days, drawn as plain SVG. The height is reserved before data comes, a day without spend is a
// small tick, today is hatched because it is not over, and a button shows the same figures as a table.
import './chart.css';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { axisText, exactText, spendText } from './format/money.ts';
import { dayText } from './format/time.ts';
import { Money } from './money.tsx';
import { Table } from './table.tsx';

export interface ChartSeries {
  readonly name: string;
  /** A token, `var(--c1)`. */
  readonly color: string;
  /** Micro-USD per day of `days`. */
  readonly values: readonly number[];
}

/** Before the real width is known. */
const WIDTH = 600;
const HEIGHT = 228;
const BOTTOM = 26;
const TOP = 8;
const PLOT = HEIGHT - TOP - BOTTOM;

/** The smallest of 1, 2, 4, 5, 10 × 10ⁿ ticks of which four or fewer cover `max`. Pure. */
export function axisOf(max: number, steps = 4): { top: number; ticks: number[] } {
  if (max <= 0) return { top: 1, ticks: [0] };
  const raw = max / steps;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((n) => n * power >= raw) ?? 10) * power;
  const count = Math.ceil(max / step);
  return { top: step * count, ticks: Array.from({ length: count + 1 }, (_, i) => i * step) };
}

interface Props {
  readonly label: string;
  readonly days: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly words?: BarWords;
  /** Opens what bar `i` is made of: a press, or Enter at the bar that is read. */
  readonly onPick?: (i: number) => void;
}

/** What a bar stands for, where it is no UTC day up to today. */
export interface BarWords {
  /** "Day (UTC)". */
  readonly head: string;
  /** "day". */
  readonly each: string;
  readonly note: string;
  /** The last bar is not over. */
  readonly open: boolean;
  readonly textOf: (day: string) => string;
}
const UTC_DAYS: BarWords = {
  head: 'Day (UTC)',
  each: 'day',
  note: 'Days in UTC; today is not over.',
  open: true,
  textOf: dayText,
};

function Legend({ series }: { series: readonly ChartSeries[] }) {
  return (
    <ul className="legend">
      {series.map(({ name, color, values }) => (
        <li key={name}>
          <span className="legend-name">
            <svg width="9" height="9" aria-hidden="true">
              <rect width="9" height="9" rx="2" fill={color} />
            </svg>
            <span className="ellipsis" title={name}>
              {name}
            </span>
          </span>
          <b className="num">
            <Money micro={values.reduce((a, b) => a + b, 0)} as="spend" />
          </b>
        </li>
      ))}
    </ul>
  );
}

function DayTable({ days, series, label, words = UTC_DAYS }: Props) {
  return (
    <div className="chart-table">
      <Table name={label}>
        <thead>
          <tr>
            <th scope="col">{words.head}</th>
            {series.map(({ name }) => (
              <th scope="col" className="n" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days
            .map((day, i) => (
              <tr key={day}>
                <td className="num">{words === UTC_DAYS ? day : words.textOf(day)}</td>
                {series.map(({ name, values }) => (
                  <td className="n" key={name}>
                    <Money micro={values[i] ?? 0} />
                  </td>
                ))}
              </tr>
            ))
            .toReversed()}
        </tbody>
      </Table>
    </div>
  );
}

/** The width of the drawing: real pixels, so that letters keep their size on a narrow page. */
function useWidth() {
  const [width, setWidth] = useState(WIDTH);
  const svg = useRef<SVGSVGElement>(null);
  useEffect(() => {
    const element = svg.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [svg, width] as const;
}

/** Pixels of a letter of the axis, at its widest. */
const LETTER = 7;
/** Half of the widest name of a day. */
const NAME_HALF = 26;

/** The room left of the plot: that of the widest label, and a little air. Pure. */
export function leftOf(labels: readonly string[]): number {
  return 10 + LETTER * Math.max(0, ...labels.map(({ length }) => length));
}

/** Where things stand in the drawing. */
interface Scale {
  /** Where the plot begins. */
  readonly left: number;
  readonly days: number;
  /** Pixels of one day. */
  readonly slot: number;
  /** Each how many days one is named below the axis. */
  readonly every: number;
  y(value: number): number;
}

function Grid({
  ticks,
  width,
  scale: { left, y },
}: {
  ticks: readonly number[];
  width: number;
  scale: Scale;
}) {
  return ticks.map((tick) => (
    <g key={tick}>
      <line className="chart-grid" x1={left} x2={width} y1={y(tick)} y2={y(tick)} />
      <text x={0} y={y(tick) + 4}>
        {axisText(tick)}
      </text>
    </g>
  ));
}

/** Where the name of day `i` stands at its bar, so that it begins and ends inside the drawing. Pure. */
export function anchorOf(
  i: number,
  { slot, days }: Pick<Scale, 'slot' | 'days'>,
): 'start' | 'middle' | 'end' {
  if (i === 0) return 'start';
  return (days - i - 0.5) * slot < NAME_HALF ? 'end' : 'middle';
}

/** The bar of day `i`: its series one above the other, or a tick where nothing was spent. */
function Bar(props: {
  i: number;
  day: string;
  total: number;
  series: readonly ChartSeries[];
  scale: Scale;
  hatch: string;
  words: BarWords;
}) {
  const { i, day, total, series, scale, hatch, words } = props;
  const { left, slot, y } = scale;
  const wide = Math.min(16, slot * 0.72);
  const x = left + slot * i + (slot - wide) / 2;
  let base = 0;
  return (
    <g>
      {total === 0 && <line className="chart-gap" x1={x} x2={x + wide} y1={y(0) - 1} y2={y(0) - 1} />}
      {series.map(({ name, color, values }) => {
        const value = values[i] ?? 0;
        if (value === 0) return null;
        const bottom = y(base);
        base += value;
        // A gap of a pixel in the colour of the ground keeps neighbours apart, but never eats a bar.
        const height = Math.max(0.75, bottom - y(base) - 1);
        return (
          <rect
            key={name}
            className="bar"
            x={x}
            width={wide}
            y={bottom - height}
            height={height}
            fill={color}
          />
        );
      })}
      {words.open && i === scale.days - 1 && total > 0 && (
        <rect x={x} width={wide} y={y(total)} height={y(0) - y(total)} fill={`url(#${hatch})`} />
      )}
      {i % scale.every === 0 && (
        <text x={x + wide / 2} y={HEIGHT - 6} textAnchor={anchorOf(i, scale)}>
          {words.textOf(day)}
        </text>
      )}
    </g>
  );
}

function Bars({
  days,
  series,
  label,
  at,
  setAt,
  words = UTC_DAYS,
  onPick,
}: Props & { at: number | null; setAt(at: number | null): void }) {
  const hatch = useId();
  const [svg, width] = useWidth();
  const totals = days.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const { top, ticks } = axisOf(Math.max(...totals, 0));
  const left = leftOf(ticks.map(axisText));
  const slot = (width - left) / days.length;
  const every = Math.ceil(days.length / Math.max(2, Math.floor(width / 130)));
  const y = (value: number) => TOP + PLOT - (value / top) * PLOT;
  const scale: Scale = { left, days: days.length, slot, every, y };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && at !== null) onPick?.(at);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setAt(Math.min(days.length - 1, Math.max(0, (at ?? days.length - (step < 0 ? 0 : 1)) + step)));
  };
  return (
    <svg
      ref={svg}
      className="chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`${label}. ${spendText(totals.reduce((a, b) => a + b, 0))} in ${days.length} ${words.each}s. Arrow keys read ${words.each} by ${words.each}.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move through the days
      tabIndex={0}
      onKeyDown={onKey}
      onBlur={() => setAt(null)}
      onPointerLeave={() => setAt(null)}
      onClick={() => at !== null && onPick?.(at)}
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const place = ((event.clientX - box.left) / box.width) * width - left;
        setAt(place < 0 ? null : Math.min(days.length - 1, Math.floor(place / slot)));
      }}
    >
      <pattern id={hatch} width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="1.6" height="4" className="chart-hatch" />
      </pattern>
      <Grid ticks={ticks} width={width} scale={scale} />
      {at !== null && (
        <rect className="chart-band" x={left + slot * at} width={slot} y={TOP} height={PLOT} rx="3" />
      )}
      {days.map((day, i) => (
        <Bar key={day} i={i} day={day} total={totals[i] ?? 0} series={series} {...{ scale, hatch, words }} />
      ))}
    </svg>
  );
}

/** Spend per day and series, in micro-USD. Colours must differ; the legend carries the totals. */
export function SpendChart(props: Props) {
  const [at, setAt] = useState<number | null>(null);
  const [table, setTable] = useState(false);
  const { words = UTC_DAYS } = props;
  const day = at === null ? undefined : props.days[at];
  const readout =
    day === undefined || at === null
      ? ''
      : `${words.textOf(day)}: ${props.series.map(({ name, values }) => `${name} ${spendText(values[at] ?? 0)}`).join(', ')}`;
  const total = at === null ? 0 : props.series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
  return (
    <>
      <Legend series={props.series} />
      {table ? <DayTable {...props} /> : <Bars {...props} at={at} setAt={setAt} />}
      <div className="chart-foot">
        <span className="sub num" title={day === undefined ? undefined : exactText(total)}>
          {readout || words.note}
        </span>
        <span className="visually-hidden" aria-live="polite">
          {readout}
        </span>
        <Button kind="quiet" onClick={() => setTable(!table)}>
          {table ? 'Show chart' : 'Show table'}
        </Button>
      </div>
    </>
  );
}
