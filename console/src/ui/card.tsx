// Page head and card: the frame of everything that stands on a page.
import { type ReactNode, useId } from 'react';

export function PageHead(props: { title: ReactNode; children?: ReactNode; actions?: ReactNode }) {
  return (
    <div className="page-head">
      <div>
        <h1 tabIndex={-1}>{props.title}</h1>
        {props.children}
      </div>
      {props.actions && <div className="actions">{props.actions}</div>}
    </div>
  );
}

/** `flush` is for tables, which bring their own edge. */
export function Card(props: {
  title?: string;
  note?: ReactNode;
  more?: ReactNode;
  flush?: boolean;
  children: ReactNode;
}) {
  const id = useId();
  const { title, note, more, flush = false, children } = props;
  return (
    <section className="card" aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <div className="card-head">
          <h2 id={id}>{title}</h2>
          {note && <span className="sub">{note}</span>}
          {more && <span className="more">{more}</span>}
        </div>
      )}
      <div className={flush ? 'card-body flush' : 'card-body'}>{children}</div>
    </section>
  );
}
