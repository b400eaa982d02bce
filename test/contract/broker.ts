import type { SuiteOptions } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { describeConcurrently } from '../support/concurrent-tests.ts'
import { describeGroups } from './broker-groups.ts'
import { describeLog } from './broker-log.ts'
import { describeRights } from './broker-rights.ts'
import { describeState } from './broker-state.ts'
import { describeStaticMembers } from './broker-static.ts'
import { describeSuccessors, describeTransactions } from './broker-transactions.ts'

/** Opens another connection to the same broker. The suite must close it. */
export type OpenBroker = () => Promise<Broker>

/** The contract of `src/broker/broker.ts`, for one backend. Topic and group names are unique per run. */
export function describeBroker(backendName: string, open: OpenBroker, options?: SuiteOptions): void {
  const define = () => {
    describeLog(open)
    describeTransactions(open)
    describeSuccessors(open)
    describeGroups(open)
    describeStaticMembers(open)
    describeState(open)
    describeRights(open)
  }
  describeConcurrently(`the log on ${backendName}`, define, options)
}
