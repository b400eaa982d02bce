import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { type Kubernetes, startKubernetes } from '../env/kubernetes.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { runWeir } from '../support/cli.ts'
import { installCrds } from '../support/crds.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const kubernetes = await real('kubernetes')

/** One command of each kind: they list, read a resource, change one, and delete one. */
const COMMANDS = [
  ['get', 'connectors'],
  ['describe', 'connector/orders'],
  ['pause', 'connector/orders'],
  ['delete', 'connector/orders', '--yes'],
] as const

type Cluster = { readonly server: string; readonly 'certificate-authority-data'?: string }

/** A control plane of this file's own: at first it has no definitions. */
describeOn([kubernetes], 'a verb on a real API server', () => {
  let control: Kubernetes
  let api: KubeApi

  beforeAll(async () => {
    control = await startKubernetes()
    api = kubeApi(control)
    return () => control.stop()
  })

  /** Runs a command with the kubeconfig of the administrator, changed by `change`. */
  async function weir(
    args: readonly string[],
    change: { readonly cluster?: Cluster; readonly token?: string; readonly user?: object } = {},
  ) {
    const directory = temporaryDirectory()
    const config = JSON.parse(readFileSync(control.kubeconfig, 'utf8'))
    const { cluster = config.clusters[0].cluster, token = control.token, user = { token } } = change
    const changed = { clusters: [{ name: 'test', cluster }], users: [{ name: 'admin', user }] }
    writeFileSync(join(directory, 'kubeconfig'), JSON.stringify({ ...config, ...changed }))
    const { code, stdout, stderr } = await runWeir(
      directory,
      ...args,
      '--kubeconfig',
      'kubeconfig',
      '--context',
      'test',
    )
    expect(stderr).not.toContain('\n    at ')
    return { code, stdout, stderr }
  }

  it('names the definitions that are missing, and how they are installed', async () => {
    for (const args of [...COMMANDS, ['get', 'subjects']]) {
      const kind = args[1]!.startsWith('subject') ? 'subject' : 'connector'
      expect(await weir(args), args.join(' ')).toEqual({
        code: 1,
        stdout: '',
        stderr:
          `weir: the API server of context test has no ${kind}s of weir.dev, because their CustomResourceDefinition is missing: ` +
          'install it (weir crds | kubectl apply --server-side -f -), or choose another cluster with --context NAME\n',
      })
    }
    const { code, stdout } = await weir(['doctor'])
    expect([code, stdout]).toEqual([1, expect.stringContaining('connectors.weir.dev is not installed')])
    await installCrds(api)
    expect(await weir(['get', 'connectors'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no connectors in namespace default of context test\n',
    })
  })

  it('of the doctor reports the definitions, the operator and the resources', async () => {
    await installCrds(api)
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    // The API server takes microseconds only.
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const spec = { holderIdentity: 'operator-0', leaseDurationSeconds: 3_600, renewTime }
    await api.send('POST', leases, { metadata: { name: 'weir-operator' }, spec })
    const { code, stdout } = await weir(['doctor', '-n', 'default'])
    expect([code, stdout], stdout).toEqual([0, expect.stringMatching(/API server: responds, Kubernetes v1\.\d+/)])
    expect(stdout).toMatch(
      /definitions: all kinds serve .*\n.*operator: operator-0 is active\n.*resources: 0 resources, all Ready/,
    )
  })

  it('names a resource that does not exist, and where', async () => {
    await installCrds(api)
    for (const args of COMMANDS.slice(1))
      expect(await weir(args), args.join(' ')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("weir: connector 'orders' does not exist in namespace default; "),
      })
  })

  it('names the right that a user lacks, and the namespace', async () => {
    await installCrds(api)
    const { token } = await serviceAccount('reader')
    const verbs = ['list', 'get', 'patch', 'delete']
    for (const [at, args] of COMMANDS.entries())
      expect(await weir(args, { token }), args.join(' ')).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(
            `^weir: connectors\\.weir\\.dev .*is forbidden: User "system:serviceaccount:default:reader" cannot ${verbs[at]} resource "connectors" ` +
              'in API group "weir\\.dev" in the namespace "default": .*kubectl auth can-i --list --namespace default',
          ),
        ),
      })
  })

  it('says that credentials are wrong or have expired', async () => {
    const { token, remove } = await serviceAccount('former')
    await remove()
    const stderr =
      'weir: the API server of context test does not accept the credentials of the kubeconfig, which are wrong or have expired: ' +
      'log in to the cluster again, or choose another cluster with --context NAME\n'
    for (const wrong of [token, 'wrong'])
      for (const args of COMMANDS) expect(await weir(args, { token: wrong })).toEqual({ code: 1, stdout: '', stderr })
  })

  it('says that credentials cannot be had from the kubeconfig', async () => {
    const user = {
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-login', interactiveMode: 'Never' },
    }
    expect(await weir(['get', 'connectors'], { user })).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /^weir: the credentials for the API server at 127\.0\.0\.1:\d+ cannot be read: .*no-such-login/,
      ),
    })
  })

  it('says that a server is unreachable, or not the one of the kubeconfig', async () => {
    const port = await freePort()
    for (const args of COMMANDS)
      expect(await weir(args, { cluster: { server: `https://127.0.0.1:${port}` } })).toEqual({
        code: 3,
        stdout: '',
        stderr: `weir: the API server at 127.0.0.1:${port} does not respond: ECONNREFUSED: check that the cluster of context test runs and that this machine reaches it, or choose another cluster with --context NAME\n`,
      })
    expect(await weir(['get', 'connectors'], { cluster: { server: control.url } })).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /^weir: the certificate of the API server of context test is not trusted \(\w+\): /,
      ),
    })
  })

  it('says what is wrong with a kubeconfig, which is wrong usage', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'broken'), '{')
    writeFileSync(join(directory, 'empty'), JSON.stringify({ apiVersion: 'v1', kind: 'Config' }))
    for (const [args, message] of [
      [['--kubeconfig', 'missing'], /^weir: the kubeconfig missing cannot be read: .*ENOENT/],
      [['--kubeconfig', directory], /^weir: the kubeconfig .* cannot be read: .*EISDIR/],
      [['--kubeconfig', 'broken'], /^weir: the kubeconfig broken cannot be read: /],
      [['--kubeconfig', 'empty'], /^weir: the kubeconfig .*current-context/],
      [
        ['--kubeconfig', control.kubeconfig, '--context', 'tset'],
        /^weir: the kubeconfig has no context 'tset': it has test/,
      ],
    ] as const) {
      const { code, stderr } = await runWeir(directory, 'get', 'connectors', ...args)
      expect([code, stderr], args.join(' ')).toEqual([2, expect.stringMatching(message)])
      expect(stderr).not.toContain('\n    at ')
    }
  })

  /** A service account without rights, and its token. */
  async function serviceAccount(name: string) {
    const path = `/api/v1/namespaces/default/serviceaccounts`
    await api.send('POST', path, { metadata: { name } })
    const { status, body } = await api.send('POST', `${path}/${name}/token`, { spec: { expirationSeconds: 600 } })
    expect(status, JSON.stringify(body)).toBe(201)
    const { token } = body['status'] as { token: string }
    return { token, remove: () => api.send('DELETE', `${path}/${name}`) }
  }
})
