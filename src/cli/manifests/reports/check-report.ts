import type { CheckResult } from '../check-finding.ts'
import { githubReport } from './github-report.ts'
import { gitlabReport } from './gitlab-report.ts'
import { jsonReport } from './json-report.ts'
import { junitReport } from './junit-report.ts'
import { sarifReport } from './sarif-report.ts'
import { textReport } from './text-report.ts'

/** The formats of `weir check --output`. */
export const CHECK_REPORTS = {
  text: textReport,
  json: jsonReport,
  sarif: sarifReport,
  junit: junitReport,
  github: githubReport,
  gitlab: gitlabReport,
} as const satisfies Readonly<Record<string, (result: CheckResult) => string>>

export type CheckReportFormat = keyof typeof CHECK_REPORTS
