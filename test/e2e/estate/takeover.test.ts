import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import type { JavaConnect } from '../../env/java-connect.ts'
import { describeOn, real } from '../../env/real.ts'
import { EstateFlow, type FlowProgress, NO_FLOW } from '../../support/estate/flow.ts'
import {
  ESTATE_SETTINGS,
  type Estate,
  startEstate,
  startJavaWorkerOf,
  untilStates,
} from '../../support/estate/start-estate.ts'
import { killWithTasks, untilCommitted, untilCopied } from '../../support/line-pipe.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess, type WeirWorker } from '../../support/worker-process.ts'

const kafka = await real('kafka')
// Used only to find out whether this machine can run a Java worker.
const java = await real('javaConnect')
const javaHost = await real('javaHost')
const mirrorMaker = await real('mirrorMaker')
const testPlugins = await real('kafkaTestPlugins')

const WAIT = { everyMs: 100, timeoutMs: 300_000 }

describeOn(
  [kafka, java, javaHost, mirrorMaker, testPlugins],
  'a Java Connect cluster with 60 connectors of ten kinds',
  () => {
    let broker: Broker
    let estate: Estate

    beforeAll(async () => {
      const { bootstrap } = kafka.address
      broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
      const plugins = [mirrorMaker.address, testPlugins.address]
      estate = await startEstate({ bootstrap, broker, plugins, hostDirectory: javaHost.address.directory, subjects: 9 })
    })
    afterAll(async () => {
      await estate?.stop()
      await broker?.close()
    })

    it('continues in a Weir worker at the stored offsets, and in Java Connect again', {
      timeout: 900_000,
    }, async () => {
      const { groupId, pluginPath, connectors, writer } = estate
      const { bootstrap } = kafka.address
      const flow = new EstateFlow(broker, estate)
      const stops: FlowProgress[] = []
      const killWhileFlowing = async (worker: JavaConnect | WeirWorker) => {
        const since = stops.at(-1) ?? NO_FLOW
        await until('records of all connectors', WAIT, () => flow.hasMovedSince(since))
        await untilCommitted(createWorkerClient({ url: worker.url }), flow.pipe, since.pipe)
        await killWithTasks(worker)
        stops.push(await flow.progress())
      }
      const before = await configsOf(estate.java)
      await killWhileFlowing(estate.java)

      const ours = await startWorkerProcess({
        log: ['--bootstrap', bootstrap],
        groupId,
        settings: {
          ...ESTATE_SETTINGS,
          'plugin.path': pluginPath,
          'java.host.directory': javaHost.address.directory,
          'java.host.heap.max': '256m',
        },
      })
      onTestFinished(() => ours.kill())
      await untilStates(ours.url, connectors)
      expect(await configsOf(ours)).toEqual(before)
      await killWhileFlowing(ours)

      const last = await startJavaWorkerOf({ bootstrap, groupId, pluginPath })
      onTestFinished(() => last.stop())
      await untilStates(last.url, connectors)
      expect(await configsOf(last)).toEqual(before)
      await until('records of all connectors', WAIT, () => flow.hasMovedSince(stops.at(-1)!))
      await writer.stop()
      await untilCopied(flow.pipe, stops.at(-1)!.pipe, writer.count)
      await until('the offset of the mirror', WAIT, () => flow.isMirrorCommitted())
      await last.kill()
      await flow.expectContinued(stops, writer.count)
    })
  },
)

async function configsOf({ url }: { readonly url: string }): Promise<Readonly<Record<string, unknown>>> {
  const listed = await createWorkerClient({ url, timeoutMs: 60_000 }).list()
  return Object.fromEntries(Object.entries(listed).map(([name, { info }]) => [name, info?.config]))
}
