// The list of keys: who may call, what each has spent today, and what can be done with it.
import { Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { KeyRowFragment } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Money } from '../../ui/money.tsx';
import { BoneRows } from '../../ui/states.tsx';
import { type Shape, Status, type Tone } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { scopeWord } from './scopes.ts';

const SCOPES_SHOWN = 2;

const marks: Record<KeyRowFragment['status'], { tone: Tone; shape: Shape; word: string }> = {
  ACTIVE: { tone: 'ok', shape: 'ok', word: 'active' },
  ROTATING: { tone: 'warn', shape: 'half', word: 'rotating' },
  BLOCKED: { tone: 'bad', shape: 'bad', word: 'blocked: its maker has left' },
  REVOKED: { tone: 'mute', shape: 'mute', word: 'revoked' },
  EXPIRED: { tone: 'mute', shape: 'mute', word: 'expired' },
};

function KeyStatus({ row, dense = false }: { row: KeyRowFragment; dense?: boolean }) {
  if (row.paused) {
    return (
      <Status tone="warn" plain={dense} word_hidden={dense}>
        paused until <Time at={row.paused.resumesAt} as="feed" />
      </Status>
    );
  }
  const { tone, shape, word } = marks[row.status];
  return (
    <Status tone={tone} shape={shape} plain={dense} word_hidden={dense}>
      {word}
    </Status>
  );
}

export type KeyAction = 'edit' | 'rotate' | 'resume' | 'revoke';
export type OnAction = (action: KeyAction, row: KeyRowFragment) => void;

function RowActions({ row, onAction }: { row: KeyRowFragment; onAction: OnAction }) {
  const navigate = useNavigate();
  const { slug, env } = useOrg();
  const ended = row.status === 'REVOKED' || row.status === 'EXPIRED';
  return (
    <Menu
      withInitialFocusPlaceholder={false}
      position="bottom-end"
      width={190}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <Button kind="quiet" icon="dots" aria-label={`Actions for ${row.name}`} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          onClick={() =>
            void navigate({ to: '/$org/$env/requests', params: { org: slug, env }, search: { key: row.id } })
          }
        >
          Show its calls
        </Menu.Item>
        {!ended && (
          <>
            {row.paused && (
              <Menu.Item onClick={() => onAction('resume', row)}>Resume until the day ends</Menu.Item>
            )}
            <Menu.Item onClick={() => onAction('edit', row)}>Edit…</Menu.Item>
            {row.status !== 'ROTATING' && (
              <Menu.Item onClick={() => onAction('rotate', row)}>Rotate…</Menu.Item>
            )}
            <Menu.Item data-danger onClick={() => onAction('revoke', row)}>
              Revoke…
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** What was spent today beside the budget of a day. */
function Spent({ row, spent }: { row: KeyRowFragment; spent: string | undefined }) {
  const { dailyMicro, hard } = row.budget;
  return (
    <span className="key-spent">
      <Money micro={spent} as="spend" />
      <span className="sub">
        {dailyMicro === null ? (
          'no budget'
        ) : (
          <>
            of <Money micro={dailyMicro} as="spend" />
            {!hard && ', soft'}
          </>
        )}
      </span>
    </span>
  );
}

export interface KeysTableProps {
  /** Undefined while none were read. */
  readonly rows: readonly KeyRowFragment[] | undefined;
  /** Micro-USD of today by key id; undefined where it is not known. */
  readonly spent: ReadonlyMap<string, string> | undefined;
  /** Calls that arrived while the page was open, by key id. */
  readonly used: ReadonlyMap<string, string>;
  /** Null for who may not change keys. */
  readonly onAction: OnAction | null;
}

function Row({ row, spent, used, onAction }: Omit<KeysTableProps, 'rows'> & { row: KeyRowFragment }) {
  return (
    <tr data-ended={row.status === 'REVOKED' || row.status === 'EXPIRED' || undefined}>
      <td className="key-name">
        <div className="two">
          <div className="ellipsis" title={row.name}>
            <span className="narrow-only">
              <KeyStatus row={row} dense />{' '}
            </span>
            {row.name}
          </div>
          <div className="sub mono">{row.hint}</div>
        </div>
      </td>
      <td className="wide-only">
        <KeyStatus row={row} />
      </td>
      <td className="n">
        <Spent row={row} spent={spent && (spent.get(row.id) ?? '0')} />
      </td>
      <td className="soft">
        <Time at={used.get(row.id) ?? row.lastUsedAt} never="never" />
      </td>
      <td className="key-project soft" title={row.project?.name}>
        {row.project?.name ?? '–'}
      </td>
      <td className="soft" title={row.scopes.map(scopeWord).join(', ')}>
        {row.scopes.slice(0, SCOPES_SHOWN).map(scopeWord).join(', ')}
        {row.scopes.length > SCOPES_SHOWN && (
          <span className="faint"> and {row.scopes.length - SCOPES_SHOWN} more</span>
        )}
      </td>
      <td className="soft">
        <Time at={row.expiresAt} never="never" />
      </td>
      <td className="n row-menu">{onAction && <RowActions row={row} onAction={onAction} />}</td>
    </tr>
  );
}

/** Keys, or as many empty rows while none were read. */
export function KeysTable({ rows, ...rest }: KeysTableProps) {
  return (
    <Table name="Keys" busy={!rows}>
      <Columns
        of={[
          'Name',
          { name: 'Status', className: 'wide-only' },
          { name: 'Spent today', className: 'n' },
          'Last used',
          'Project',
          'Scopes',
          'Expires',
          { name: 'Actions', className: 'row-menu', hidden: true },
        ]}
      />
      <tbody>
        {rows ? (
          rows.map((row) => <Row key={row.id} row={row} {...rest} />)
        ) : (
          <BoneRows rows={5} columns={8} />
        )}
      </tbody>
    </Table>
  );
}
