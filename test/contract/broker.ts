import { describe } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { describeGroups } from './broker-groups.ts'
import { describeLog } from './broker-log.ts'
import { describeState } from './broker-state.ts'
import { describeStaticMembers } from './broker-static.ts'
import { describeTransactions } from './broker-transactions.ts'

/** How a suite gets at a home. Brokers that `open` gives are the suite's to close; they are of one and the same log. */
export type OpenBroker = () => Promise<Broker>

/** Everything that `src/broker/broker.ts` promises, on a home. Topics and groups have names of the run's own. */
export function describeBroker(home: string, open: OpenBroker): void {
  describe(`the log on ${home}`, () => {
    describeLog(open)
    describeTransactions(open)
    describeGroups(open)
    describeStaticMembers(open)
    describeState(open)
  })
}
