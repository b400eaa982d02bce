obj.metadata.annotations = obj.metadata.annotations or {}
obj.metadata.annotations["weir.dev/restart-scope"] = "all"
obj.metadata.annotations["weir.dev/restart-requested-at"] = os.date("!%Y-%m-%dT%XZ")
return obj
