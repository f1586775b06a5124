export { mailedTopics, mailFact } from './notices.ts';
export {
  archiveProjectOperation,
  budgetOperations,
  createProjectOperation,
  listProjectsOperation,
  patchProjectOperation,
  resumeProjectOperation,
} from './operations.ts';
export { getRunOperation, RunView } from './runs.ts';
export { CreateProjectInput, PatchProjectInput, ProjectView, projectStatuses } from './schema.ts';
export { setProjectLimits } from './staff.ts';
export { viewProjects } from './view.ts';
