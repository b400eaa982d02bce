import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { durationOf } from './recorded-durations.ts'

/**
 * Keeps the order of projects, and starts the longest files of each first, so that the run does not end with one of them
 * alone. Vitest orders files by their durations in earlier runs, which a clean checkout does not have, or else by their
 * sizes.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || fileSecondsOf(b) - fileSecondsOf(a))
  }
}

const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder
const fileSecondsOf = ({ moduleId }: TestSpecification) => durationOf(moduleId)[0]
