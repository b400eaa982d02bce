import type { ChaosCluster } from './chaos-cluster.ts'
import type { BrokerFault, Fault, ProgramFault } from './fault-schedule.ts'
import type { SupervisedProgram } from './supervised-program.ts'

export type FaultTargets = {
  readonly cluster: ChaosCluster
  readonly workers: readonly SupervisedProgram[]
  readonly registries: readonly SupervisedProgram[]
}
export type EndFault = () => Promise<void>

/** Causes a fault. Returns a function that ends it: what was stopped is started, and what was broken is repaired. */
export async function beginFault(fault: Fault, targets: FaultTargets): Promise<EndFault> {
  const { cluster } = targets
  if ('instance' in fault) return beginProgramFault(fault, targets)
  if ('broker' in fault) return beginBrokerFault(fault, cluster)
  switch (fault.kind) {
    case 'two brokers killed': {
      const nodes = fault.brokers.map((broker) => cluster.node(broker))
      await Promise.all(nodes.map((node) => node.kill()))
      return async () => void (await Promise.all(nodes.map((node) => node.restart())))
    }
    case 'leaders elected':
      await cluster.electOtherLeaders()
      return async () => undefined
    case 'ACL revoked':
      return cluster.revoke(fault.right)
  }
}

async function beginBrokerFault({ kind, broker, delayMs }: BrokerFault, cluster: ChaosCluster): Promise<EndFault> {
  const [node, link] = [cluster.node(broker), cluster.link(broker)]
  const heal = async () => link.heal()
  switch (kind) {
    case 'broker killed':
      await node.kill()
      return () => node.restart()
    case 'broker terminated':
      await node.shutDown()
      return () => node.restart()
    case 'broker frozen':
      await node.freeze()
      return () => node.thaw()
    case 'broker disk full': {
      const makeRoom = await cluster.fillDisk(broker)
      return async () => {
        await makeRoom()
        // It has failed at the first write that found no room, in whatever way.
        await node.kill()
        await node.restart()
      }
    }
    case 'network slow':
      link.delay(delayMs!)
      return heal
    case 'connections reset':
      cluster.resetConnections(broker)
      return heal
    case 'connections half-open':
      link.halfOpen()
      return heal
    case 'partitions reassigned':
      return cluster.reassignAwayFrom(broker)
  }
}

async function beginProgramFault(
  { kind, instance, jumpMs }: ProgramFault,
  { workers, registries }: FaultTargets,
): Promise<EndFault> {
  const program = (kind.startsWith('worker ') ? workers : registries)[instance - 1]!
  switch (kind.slice(kind.indexOf(' ') + 1)) {
    case 'killed':
      await program.kill()
      return () => program.start()
    case 'terminated':
      await program.terminate()
      return () => program.start()
    case 'frozen':
      program.freeze()
      return async () => program.thaw()
    default:
      program.clock.set(jumpMs!)
      return async () => program.clock.set(0)
  }
}
