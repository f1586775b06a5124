// What a part of a page shows while its data loads, when there is none, and when it could not be read.
import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Fault } from '../api/errors.ts';
import { Button } from './button.tsx';
import { IdText } from './copy.tsx';
import { Status } from './status.tsx';

/** True from `delay_ms` on, so that what comes fast never flickers. */
export function useLate(delay_ms = 150): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), delay_ms);
    return () => clearTimeout(timer);
  }, [delay_ms]);
  return late;
}

/** A bar in the place and size of text to come; hidden for the first moment, but its room is kept. */
export function Bone({ width, height = 14 }: { width: number | string; height?: number }) {
  const late = useLate();
  const style: CSSProperties = { width, height, ...(late ? {} : { background: 'none' }) };
  return <span className="skeleton" style={style} aria-hidden="true" />;
}

/** Rows of a table to come, `columns` wide, in the height of the real ones. */
export function BoneRows({ rows, columns }: { rows: number; columns: number }) {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => i);
  return keys(rows).map((row) => (
    <tr key={row}>
      {keys(columns).map((column) => (
        <td key={column}>
          <Bone width={column === 0 ? 110 : 64} />
        </td>
      ))}
    </tr>
  ));
}

/** Says what will appear here, and offers the action that leads to it. */
export function Empty(props: { title: string; page?: boolean; children: ReactNode; actions?: ReactNode }) {
  return (
    <div className="empty">
      {props.page ? <h1>{props.title}</h1> : <h2>{props.title}</h2>}
      <p>{props.children}</p>
      {props.actions && <div className="actions">{props.actions}</div>}
    </div>
  );
}

/**
 * One sentence, the code and request id to quote, and a button to try again. What failed without a connection is tried
 * again when that is back.
 */
export function ErrorBox({ fault, onRetry }: { fault: Fault; onRetry?: () => void }) {
  const retry = useRef(onRetry);
  retry.current = onRetry;
  const { offline } = fault;
  useEffect(() => {
    if (!offline) return;
    const again = () => retry.current?.();
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [offline]);
  return (
    <div className="error-box" role="alert">
      <Status tone="bad">{fault.offline ? 'offline' : fault.code}</Status>
      <div className="grow">
        {fault.message}
        {fault.request_id && (
          <div className="sub">
            Request <IdText id={fault.request_id} />
          </div>
        )}
      </div>
      {onRetry && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The refusal of a form as a whole, above its buttons. */
export function FormFault({ fault }: { fault: Fault | null }) {
  if (fault === null) return null;
  return (
    <div className="form-fault" role="alert">
      {fault.message}
      {fault.request_id && <span className="sub mono">{fault.request_id}</span>}
    </div>
  );
}
