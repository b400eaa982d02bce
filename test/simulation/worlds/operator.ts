import type { Simulation } from '../simulation.ts'
import type { Step, World } from '../world.ts'
import { HISTORY_MS, planOperatorHistory } from './operator/plan.ts'
import { OperatorRoom } from './operator/room.ts'

/** The shipped operator, once or twice, with a Kubernetes API, a Connect cluster and a registry. */
export const operatorWorld: World = {
  name: 'operator',
  plan: planOperatorHistory,
  async run(simulation: Simulation, steps: readonly Step[]) {
    const room = new OperatorRoom(simulation)
    for (const step of steps) {
      await room.runUntil(step.atMs)
      room.carryOut(step)
    }
    await room.runUntil(HISTORY_MS)
    await room.converge()
  },
}
