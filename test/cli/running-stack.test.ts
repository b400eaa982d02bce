import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  findRunningStacks,
  type RunningStack,
  readRunningStack,
  writeRunningStack,
} from '../../src/cli/running-stack.ts'
import { resolveTarget, runtimeOf } from '../../src/cli/target.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const STACK: RunningStack = {
  pid: process.pid,
  version: '0.1.0',
  manifests: '/m',
  directory: '/m/.weir',
  registryUrl: 'http://127.0.0.1:1',
  workerUrl: 'http://127.0.0.1:2',
  broker: { kind: 'process', port: 3, token: 'secret' },
}
/** Larger than any process id of Linux. */
const ENDED = { ...STACK, pid: 2 ** 30 }

describe('the file of a running weir up', () => {
  it('may be read by its owner only, and is removed with the directory that it needed', () => {
    const directory = join(temporaryDirectory(), '.weir')
    const remove = writeRunningStack(directory, STACK)
    expect(statSync(join(directory, 'weir-up.json')).mode & 0o777).toBe(0o600)
    expect(readRunningStack(directory)).toEqual(STACK)
    remove()
    expect(existsSync(directory)).toBe(false)
  })

  it('replaces one of another mode, and stays when another program has written it', () => {
    const directory = temporaryDirectory()
    const file = join(directory, 'weir-up.json')
    writeFileSync(file, 'old')
    chmodSync(file, 0o644)
    const remove = writeRunningStack(directory, STACK)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    writeRunningStack(directory, ENDED)
    remove()
    expect(readdirSync(directory)).toEqual(['weir-up.json'])
  })

  it('is found in the nearest place: here, below, above', () => {
    const root = temporaryDirectory()
    const here = join(root, 'here')
    const below = join(here, 'a/b/.weir')
    mkdirSync(join(here, 'a/b'), { recursive: true })
    writeRunningStack(join(root, '.weir'), { ...STACK, manifests: 'above' })
    const nearest = () => findRunningStacks(here).running.map(({ stack }) => stack.manifests)
    expect(nearest()).toEqual(['above'])
    writeRunningStack(below, { ...STACK, manifests: 'below' })
    expect(nearest()).toEqual(['below'])
    writeRunningStack(join(here, '.weir'), { ...STACK, manifests: 'here' })
    expect(nearest()).toEqual(['here'])
  })

  it('of a process that has ended, or of unknown content, is not used', () => {
    const directory = temporaryDirectory()
    writeRunningStack(directory, ENDED)
    expect(readRunningStack(directory)).toBeUndefined()
    expect(findRunningStacks(directory)).toMatchObject({ running: [], left: [{ stack: ENDED }] })
    writeFileSync(join(directory, 'weir-up.json'), '{}')
    expect(findRunningStacks(directory)).toEqual({ running: [], left: [] })
  })
})

describe('the target of a command', () => {
  it('is the running weir up of the directory', async () => {
    const directory = temporaryDirectory()
    writeRunningStack(join(directory, '.weir'), STACK)
    const target = await resolveTarget({}, directory)
    expect(runtimeOf(target, 'worker', 'x').url).toBe('http://127.0.0.1:2')
    expect(runtimeOf(target, 'registry', 'x').url).toBe('http://127.0.0.1:1')
  })

  it('is what the command line names', async () => {
    const target = await resolveTarget({ worker: 'http://a:1', user: 'u:p' }, temporaryDirectory())
    expect(runtimeOf(target, 'worker', 'x')).toEqual({ url: 'http://a:1', auth: { username: 'u', password: 'p' } })
    expect(() => runtimeOf(target, 'registry', 'a subject')).toThrow('a subject needs a registry: give --registry URL')
  })

  it('is missing with what would be right', async () => {
    const directory = temporaryDirectory()
    await expect(resolveTarget({}, directory)).rejects.toThrow(
      /no running weir up was found in .+: start one \(weir up DIR\), or give --worker URL/,
    )
    writeRunningStack(join(directory, '.weir'), ENDED)
    await expect(resolveTarget({}, directory)).rejects.toThrow(/weir up \/m has ended without removing .+weir-up\.json/)
  })

  it('is not guessed between several', async () => {
    const directory = temporaryDirectory()
    for (const name of ['a', 'b']) mkdirSync(join(directory, name))
    for (const name of ['a', 'b']) writeRunningStack(join(directory, name, '.weir'), STACK)
    await expect(resolveTarget({}, directory)).rejects.toThrow('choose one with --data a/.weir or --data b/.weir')
    const target = await resolveTarget({ data: join(directory, 'b/.weir') }, directory)
    expect(runtimeOf(target, 'worker', 'x').url).toBe('http://127.0.0.1:2')
  })

  it.each([
    [{ worker: 'http://a:1', data: 'd' }, /exclude each other/],
    [{ namespace: 'n' }, /--namespace applies to resources of Kubernetes: add --context NAME/],
    [{ worker: 'a:1' }, /--worker a:1: expected http:\/\/HOST:PORT/],
    [{ data: 'missing' }, /--data missing: no running weir up has its data there/],
    [{ kubeconfig: '/missing' }, /the kubeconfig \/missing cannot be read/],
  ])('is refused for %j', async (values, message) => {
    await expect(resolveTarget(values, temporaryDirectory())).rejects.toThrow(message)
  })
})
