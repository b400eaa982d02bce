type Node<Value> = { readonly children: Map<string, Node<Value>>; value: Value | undefined }

/**
 * Values by qualified name, with the name resolution of Protobuf. A tree and not a map by full names: with it, the time of a
 * resolution is independent of the lengths of the enclosing names, which a schema can make long.
 */
export class NameTree<Value extends object> {
  readonly #root: Node<Value> = newNode()
  /** A cache of resolved names for each scope. All fields of a message have the same array as scope. */
  readonly #resolved = new WeakMap<readonly string[], Map<string, Value | undefined>>()

  /** Adds or replaces a value. Add all values before the first call of `resolve`. */
  set(path: readonly string[], value: Value): void {
    let node = this.#root
    for (const part of path) {
      const child = node.children.get(part) ?? newNode<Value>()
      node.children.set(part, child)
      node = child
    }
    node.value = value
  }

  /** The value of a full name without a leading dot. */
  get(fullName: string): Value | undefined {
    return valueAt(this.#root, fullName.split('.'))
  }

  /** Resolves `name` in `scope` (packages and messages, outermost first). The innermost match takes precedence. */
  resolve(name: string, scope: readonly string[]): Value | undefined {
    if (name.startsWith('.')) return this.get(name.slice(1))
    const known = this.#resolved.get(scope) ?? new Map<string, Value | undefined>()
    this.#resolved.set(scope, known)
    if (!known.has(name)) known.set(name, this.#find(name.split('.'), scope))
    return known.get(name)
  }

  #find(parts: readonly string[], scope: readonly string[]): Value | undefined {
    let node: Node<Value> | undefined = this.#root
    let found = valueAt(node, parts)
    for (const part of scope) {
      node = node.children.get(part)
      if (!node) return found
      found = valueAt(node, parts) ?? found
    }
    return found
  }
}

function newNode<Value>(): Node<Value> {
  return { children: new Map(), value: undefined }
}

function valueAt<Value>(from: Node<Value>, parts: readonly string[]): Value | undefined {
  let node: Node<Value> | undefined = from
  for (const part of parts) {
    node = node.children.get(part)
    if (!node) return undefined
  }
  return node.value
}
