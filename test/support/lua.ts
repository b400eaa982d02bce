import { LuaFactory } from 'wasmoon'

const factory = new LuaFactory()

/** Runs a Lua health script as Argo CD does, with the resource as the global `obj`, and returns its result. */
export async function runLua<T>(script: string, obj: object): Promise<T> {
  const engine = await factory.createEngine({ enableProxy: false, injectObjects: false })
  try {
    engine.global.set('obj', structuredClone(obj))
    await engine.doString('string, io, package, require, debug, os = nil, nil, nil, nil, nil, { date = os.date }')
    return (await engine.doString(script)) as T
  } finally {
    engine.global.close()
  }
}
