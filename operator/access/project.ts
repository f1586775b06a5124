// A Project object: a project of the service that is made or adopted, kept as the object says, and let go or archived.
import { answered } from '../look/gather.ts';
import { decideProject, type ProjectStep } from './decide-project.ts';
import { done, type Hand, type Kind, type Outcome } from './reconcile.ts';
import { no, ok } from './status.ts';
import type { ProjectObject } from './types.ts';

const STEPS_MAX = 4;

async function take(hand: Hand<ProjectObject>, step: ProjectStep): Promise<void> {
  const { service, object } = hand;
  if (step.do === 'create') {
    // A project that was archived elsewhere is made again, so the key names more than the object.
    const { uid, generation } = object.metadata;
    const once = `${uid}-${generation}-${object.status?.projectId ?? 'none'}`;
    const { id, slug } = done(await service.createProject(step.body, once));
    // Whoever keeps it is written with it, by the header of the request.
    await hand.tell('ProjectCreated', `project ${slug} is ${id}`);
    return;
  }
  done(await service.updateProject(step.id, step.body));
  if (step.adopts)
    await hand.tell('ProjectAdopted', `project ${object.spec.slug} existed; it is kept from now on`);
  else await hand.tell('Updated', `project ${object.spec.slug} has the settings of the manifest again`);
}

async function settle(hand: Hand<ProjectObject>): Promise<Outcome> {
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    const projects = answered(await hand.service.projects());
    const decision = decideProject(hand.object, hand.manifest, projects);
    if (decision.kind === 'done') {
      const { id, slug } = decision.project;
      const Synced = ok('Stored', `project ${slug} is ${id}`);
      return {
        findings: { Accepted: ok('Valid', 'the project can be kept'), Synced },
        ...{ fields: { projectId: id }, again: 'resync' },
      };
    }
    if (decision.kind === 'conflict') {
      const finding = no('SlugConflict', decision.message);
      return { findings: { Accepted: finding, Synced: finding }, fields: {}, again: 'resync' };
    }
    await hand.claim();
    await take(hand, decision.step);
  }
  throw new Error(`no end after ${STEPS_MAX} steps`);
}

async function release(hand: Hand<ProjectObject>): ReturnType<Kind<ProjectObject>['release']> {
  const { service, manifest, object } = hand;
  const projects = answered(await service.projects());
  const own = projects.find(({ managed_by, slug }) => managed_by === manifest && slug === object.spec.slug);
  if (own === undefined) return null;
  hand.assertLeading();
  if (object.spec.deletionPolicy !== 'Archive') {
    done(await service.updateProject(own.id, {}, true));
    await hand.tell('ProjectReleased', `project ${own.slug} stays, and nobody keeps it`);
    return null;
  }
  const answer = await service.archiveProject(own.id);
  if (!answer.ok && answer.fault.code === 'in_use') {
    return { reason: 'ProjectInUse', message: `deletion waits: project ${own.slug} has keys that work` };
  }
  if (!answer.ok && answer.fault.code === 'not_found') return null;
  done(answer);
  await hand.tell('ProjectArchived', `project ${own.slug} is archived`);
  return null;
}

export const projectKind: Kind<ProjectObject> = { kind: 'Project', settle, release };
