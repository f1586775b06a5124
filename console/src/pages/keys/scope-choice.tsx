// What a key may do, as boxes to tick.
import type { Scope } from '../../api/gen/graphql.ts';
import { scopes } from './scopes.ts';

export function ScopeChoice({
  chosen,
  onToggle,
  fault,
}: {
  chosen: ReadonlySet<Scope>;
  onToggle: (scope: Scope) => void;
  fault: string | undefined;
}) {
  return (
    <fieldset className="key-scopes">
      <legend>What it may do</legend>
      {scopes.map(({ value, name, what }) => (
        <label className="check" key={value}>
          <input type="checkbox" checked={chosen.has(value)} onChange={() => onToggle(value)} />
          <span>
            <code className="mono">{name}</code> <span className="faint">{what}</span>
          </span>
        </label>
      ))}
      {fault && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
    </fieldset>
  );
}

/** `chosen` with `scope` put in, or taken out where it was in. */
export function toggled(chosen: ReadonlySet<Scope>, scope: Scope): ReadonlySet<Scope> {
  const next = new Set(chosen);
  if (!next.delete(scope)) next.add(scope);
  return next;
}
