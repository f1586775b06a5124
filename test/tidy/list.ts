// The rules over the whole repository, by the name that a failure has.
import { citations, noOutsidePapers, outcomesTested } from './citations.ts';
import { docsInIndex, filesInReadmes, pathsInDocs } from './documents.ts';
import { exportsUsed } from './exports.ts';
import { formatsNamedAtHome } from './formats.ts';
import { clientsTakeTypes, conceptReadmes, fileCycles, importOrder, surfacesByIndex } from './imports.ts';
import { migrationsInOrder } from './migrations.ts';
import { inferenceRooms, roomsOfCall } from './rooms.ts';
import {
  documentedExports,
  noMachinePaths,
  noSkippedTests,
  plainModules,
  pureOutsideKernel,
  sqlInStores,
  verifiedAlone,
} from './rules.ts';
import { foldersExplained, invariantsOnce } from './shape.ts';
import { fileLength, folderSize, functionLength } from './sizes.ts';
import type { Rule } from './sources.ts';
import { plainNames } from './words.ts';

export const rules: readonly (readonly [string, Rule])[] = [
  ['imports follow the order of the house and go through index files', importOrder],
  ['no files of core import each other', fileCycles],
  ['rooms of inference use those above them', inferenceRooms],
  ['rooms of a call use those above them', roomsOfCall],
  ['only formats name formats', formatsNamedAtHome],
  ['surfaces use a concept through its index file alone', surfacesByIndex],
  ['the operator takes types alone from core', clientsTakeTypes],
  ['every concept has a README that says what it uses', conceptReadmes],
  ['SQL stands only in stores and migrations', sqlInStores],
  ['clock, randomness, environment and crypto stand only in core/kernel', pureOutsideKernel],
  ['XML is parsed by one library, and assertions come from what it verified', verifiedAlone],
  ['modules are plain: no export *, default export, enum or namespace', plainModules],
  ['every exported function of core has a docstring', documentedExports],
  ['names use the words of the field', plainNames],
  ['no file is longer than 400 lines', fileLength],
  ['no folder holds more than 25 files', folderSize],
  ['no function is longer than 60 lines', functionLength],
  ['migrations are numbered without a gap', migrationsInOrder],
  ['no file names a path of one machine', noMachinePaths],
  ['no test is switched off', noSkippedTests],
  ['README and docs name only files that exist', pathsInDocs],
  ['docs/README.md links every document', docsInIndex],
  ['the README of a folder names only files that exist', filesInReadmes],
  ['what is exported is used in another file', exportsUsed],
  ['a folder of more than five files says what it is', foldersExplained],
  ['an invariant has a name of its own', invariantsOnce],
  ['every page and heading that is cited exists', citations],
  ['no paper outside the repository is cited', noOutsidePapers],
  ['every way in which a call can end is cited by a test', outcomesTested],
];
