// The projects of the environment: their budgets, making one, and archiving one.
import { useState } from 'react';
import type { BudgetRowFragment } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { managesMembers } from '../members/roles.ts';
import { BudgetTable } from './budget-table.tsx';
import { ArchiveProjectDialog, CreateProjectDialog } from './project-dialogs.tsx';

export function ProjectsCard(props: {
  rows: readonly BudgetRowFragment[] | undefined;
  now: Date;
  allowed: boolean;
  onEdit: (row: BudgetRowFragment) => void;
  onResume: (row: BudgetRowFragment) => void;
  onChanged: (said: string) => void;
}) {
  const { onChanged, ...table } = props;
  const { role } = useOrg();
  const [open, setOpen] = useState<BudgetRowFragment | 'create' | null>(null);
  const close = () => setOpen(null);
  const done = (said: string) => {
    close();
    onChanged(said);
  };
  const create = props.allowed && (
    <Button icon="plus" onClick={() => setOpen('create')}>
      New project
    </Button>
  );
  return (
    <>
      <Card
        title="Projects"
        note="The calls that began in a UTC month, of all keys together."
        more={create}
        flush
      >
        <BudgetTable {...table} onArchive={managesMembers(role) ? setOpen : null} />
      </Card>
      {open === 'create' && <CreateProjectDialog onClose={close} onDone={done} />}
      {open !== null && open !== 'create' && (
        <ArchiveProjectDialog row={open} onClose={close} onDone={done} />
      )}
    </>
  );
}
